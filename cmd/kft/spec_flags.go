package main

import (
	"github.com/kernel-fried-tensor/kft/dataset"
	"github.com/kernel-fried-tensor/kft/spec"
)

// dataFlags describe the columns of a table and its format.
type dataFlags struct {
	Target     string   `group:"data" placeholder:"COLUMN" help:"Column to predict, as in units, or several, as in units,revenue, which become one model with a mode target."`
	Modes      []string `group:"data" sep:"none" placeholder:"MODE,..." help:"Columns that identify a cell, separated by commas: a column (store), several columns joined (time=year+month), or a function of one (hour(timestamp)). Quote a name that contains any of + , = ( ): 'store,price=\"price (USD)\"'."`
	Weight     string   `group:"data" placeholder:"COLUMN" help:"Column of row weights, 0 or more: a row of weight w has noise variance s2/w (default: all rows have weight 1)."`
	Censored   string   `group:"data" placeholder:"COLUMN" help:"Column that marks rows whose true target may be higher, such as sales of a shop that ran out of stock, by yes or 1 (default: none)."`
	Exposure   string   `group:"data" placeholder:"COLUMN" help:"Column of exposures above 0, by which the rates of counts are multiplied (default: all rows have exposure 1)."`
	Duplicates string   `group:"data" placeholder:"RULE" values:"error,sum,mean,last,keep" help:"What to do with rows of the same cell: error, sum, mean, last, or keep each of them as an observation of its own (default: error)."`
	Delimiter  string   `group:"data" placeholder:"D" values:"auto,comma,tab,semicolon,bar,space" help:"Delimiter of a text table: auto, comma, tab, semicolon, bar, space, one character, or several characters such as :: (default: auto)."`
	Decimal    string   `group:"data" placeholder:"SIGN" values:"point,comma" help:"Decimal sign of formatted numbers, point or comma; they may have currency and percent signs (default: plain numbers such as 1234.5; kft init recognises others)."`
	Thousands  string   `group:"data" placeholder:"SIGN" values:"comma,point,space,apostrophe,underscore,none" help:"Separator of thousands in numbers: comma, point, space, apostrophe, underscore or none (default: none)."`
	Header     string   `group:"data" placeholder:"H" values:"auto,yes,no" help:"Whether the first row contains the column names: auto, yes or no (default: auto)."`
}

// specFlags are the arguments and flags of fit, spec and tune. Each overrides one
// field of the specification. A flag that is not given stays nil or empty.
type specFlags struct {
	Tables    []string `arg:"" optional:"" name:"table" complete:"file" help:"Table to learn from: CSV or TSV, plain, gzip or zstd, Parquet or Arrow; - is standard input. Several tables with the same columns are read as one (default: the table of kft.yaml)."`
	Data      []string `hidden:"" group:"data" sep:"none" placeholder:"TABLE" complete:"file" help:"Same as the argument TABLE. May be repeated."`
	SpecFile  string   `name:"spec" group:"data" placeholder:"FILE" complete:"file" help:"Specification to start from (default: kft.yaml if no table is given and the file exists, else the default values)."`
	dataFlags `embed:""`
	Covariate []string `group:"data" sep:"none" placeholder:"COLUMN,..." help:"Columns that describe a cell and are known for the cells to predict, separated by commas, as in price,promo: numbers become a smooth curve, texts and few values levels; number(price) and level(promo) say which. Automatic terms use them by themselves. Without the flag they are guessed together with the modes, except for forecasts; none uses no column."`
	Lags      []string `group:"data" sep:"none" placeholder:"N,..." help:"Targets of the same series some periods before as covariates lag1, lag12, as in 1,12; only values of training rows are used."`
	History   []string `group:"data" sep:"none" placeholder:"MODE*MODE" help:"Number of training periods in which a combination of ids was observed, as in store*item, as the covariate periods. May be repeated."`
	Absent    string   `group:"data" placeholder:"A" values:"unknown,zero" help:"Meaning of a cell without a row, from the first row of its series on: unknown, or zero, such as a month without sales (default: unknown)."`
	Ends      string   `group:"data" placeholder:"E" values:"auto,table,series" help:"End from which a split by time and forecasts count periods: table, or series if each series has its own end, as in a table of series of different years (default: auto, which decides by the ends of the series)."`
	Split     string   `group:"data" placeholder:"SPLIT" values:"random:60/20/20,time:last=3,entity:,column:,file:" help:"Training, validation and test set: random:60/20/20, time:last=3, entity:store=10%, column:part or file:F (default: random:60/20/20)."`
	Forecast  *int     `from:"1" group:"data" placeholder:"H" help:"Fit a model that forecasts H periods: short for --split time:last=H --refit all. The last H periods are the test set and the H before them the validation set, which also calibrates the intervals by horizon; then the model is trained again on all rows."`

	Term      []string `group:"model" sep:"none" placeholder:"TERM" help:"Term of the model, as in 'store,item,time:20': cores separated by commas, modes of a joint core joined by *, one rank or several after the colon; item.vendor is the groups of items by a column of their side table, along(time) a core with a prior along time, and 'series(store*item; time)' a series per pair. May be repeated; the model is the sum (default: auto, which chooses them, and whatever else is not given)."`
	Effort    string   `group:"model" placeholder:"E" values:"quick,normal,thorough" help:"Time for automatic choices: quick (few comparisons), normal or thorough (more rows and higher ranks) (default: normal)."`
	Rank      *int     `group:"model" placeholder:"R" help:"Use one term over all modes with this rank."`
	Order     string   `group:"model" placeholder:"O" values:"given,auto" help:"Order of the cores of a term with three or more: given, or auto, which chooses on the validation set (default: given)."`
	Transform string   `group:"model" placeholder:"SCALE" values:"identity,log1p,sqrt,cbrt1p,power,power:,auto" help:"Scale on which the target is modelled: identity, log1p, sqrt, cbrt1p, power:P with P from 0 (logarithm) to 1 (identity), power, which estimates P from the training set, or auto, which chooses a named one on the validation set, or a power with automatic terms (default: auto with automatic terms, else identity)."`

	NonNegative string `name:"nonnegative" group:"model" placeholder:"N" values:"auto,yes,no" help:"Whether predictions are 0 or more: yes, no, or auto, which means yes if no target is negative (default: auto)."`

	Side         []string `group:"side" sep:"none" placeholder:"TABLE" help:"Side information of a mode: a table, as in store=stores.csv:city:cat,lat,lon (column types num, log, cat, labels, words, date, cycleN, group; guessed by default), or columns computed from the ids, as in time=@year,@month:cycle12. May be repeated."`
	Variant      string   `group:"side" placeholder:"NAME" values:"plain,side,wlr,ls,additive" help:"How cores use side information: plain, side, wlr, ls or additive (default: plain without --side, with it auto for automatic terms, else wlr). A term can have its own variant: 'store,item:5@additive'."`
	Space        string   `group:"side" placeholder:"NAME" values:"primal,primal-rff,dual,dual-rff,dual-unwhitened" help:"Function space of the regression: primal (linear in the columns), primal-rff, dual (a kernel), dual-rff or dual-unwhitened (default: dual)."`
	Kernel       []string `group:"side" sep:"none" placeholder:"KERNEL" help:"Kernel: rbf, matern12, matern32, matern52, periodic:12, sums and products such as matern32+rbf*periodic:12, rbf:ard; time=KERNEL sets that of one mode. May be repeated (default: matern32)."`
	SideColumns  *int     `group:"side" placeholder:"N" help:"Number of columns of a kernel's operator, or of random features (default: 256)."`
	Intercept    string   `group:"side" placeholder:"I" values:"yes,no" help:"Whether operators have a constant column: yes or no (default: yes)."`
	LengthScales string   `name:"length-scales" group:"side" placeholder:"L" values:"fixed,learn" help:"Length-scales of kernels: fixed at the median distance, or learn (default: fixed)."`
	Placebo      string   `group:"side" placeholder:"KIND" values:"constant,noise" help:"Control experiment: replace all side information by constant or noise, or that of one mode, as in noise:store."`

	Inference  string `group:"uncertainty" placeholder:"NAME" values:"map,mean-field,multivariate,entity-covariance,auto" help:"Point estimate (map) or posterior (mean-field, multivariate, entity-covariance) of the weights; auto chooses with automatic terms (default: auto with automatic terms, else map)."`
	Likelihood string `group:"uncertainty" placeholder:"NAME" values:"gaussian,poisson,negative-binomial,zero-inflated,hurdle,bernoulli,ordinal,student,auto" help:"Distribution of the target around the model: gaussian on the scale of --transform, or student with outliers; poisson or negative-binomial for counts; zero-inflated or hurdle for counts with many zeros; bernoulli for 0 and 1, yes and no; ordinal for few ordered values; auto chooses on the validation set (default: auto with automatic terms, else gaussian)."`
	Noise      string `group:"uncertainty" placeholder:"KIND" values:"constant,entity:,power,power:,auto" help:"Noise of the gaussian likelihood: constant, power (of the mean), by entity (entity:item, entity:store,item or entity:store*item), both (power:store,store*item), or auto, which chooses on the validation set (default: auto with automatic terms, else constant)."`
	NoiseUse   string `group:"uncertainty" placeholder:"USE" values:"predict,fit,auto" help:"Use the noise model for predictions only (predict), or also to weight rows in training (fit); auto chooses with automatic terms (default: auto with automatic terms, else predict)."`
	Conformal  string `group:"uncertainty" placeholder:"KIND" values:"auto,none,split,group:mean,group:,horizon" help:"Conformal correction of intervals, computed from half of the validation set: none, split (one for all rows), group:mean (by size of the prediction), group:MODE, horizon (by size, with a factor per period ahead), or auto (for a posterior with enough validation rows horizon after a split by time and group:mean otherwise, else none) (default: auto)."`
	Heaping    string `group:"uncertainty" placeholder:"H" values:"auto,none" help:"Whole numbers of which some are more frequent, such as sales by the case: auto learns their frequencies, and makes medians and quantiles whole numbers, if that lowers the CRPS of validation rows; none does not (default: auto)."`
	Mixing     string `group:"uncertainty" placeholder:"M" values:"auto,none" help:"Correction of forecasts by recent values of their series: auto learns it if it lowers the squared error of held-out forecasts; none does not (default: auto)."`
	Covariance string `group:"uncertainty" placeholder:"C" values:"triangular,paper" help:"multivariate with adam: the factor of a covariance is a triangular matrix, or has the parametrisation of the paper (default: triangular)."`
	Moments    string `group:"uncertainty" placeholder:"M" values:"exact,paper" help:"Variance of predictions: exact, or the approximation of the paper (default: exact)."`

	NoiseVariance *spec.Variance  `name:"noise-variance" group:"uncertainty" placeholder:"X" values:"auto" help:"Noise variance of a posterior on the standardised scale, as in 0.5, or auto, which learns it (default: auto)."`
	PriorVariance *spec.Variance  `name:"prior-variance" group:"uncertainty" placeholder:"X" values:"auto" help:"Prior variance of the weights of a posterior, as in 1, or auto, which learns one for each block (default: auto)."`
	PriorMean     *spec.PriorMean `name:"prior-mean" group:"uncertainty" placeholder:"X" values:"auto" help:"Prior mean of the free weights of a posterior, as in 0, or auto, which is 1 for wlr and 0 otherwise (default: auto)."`

	Solver       string       `group:"training" placeholder:"NAME" values:"als,adam,cavi" help:"als or adam for a point estimate, cavi or adam for a posterior (default: als, or cavi)."`
	Ridge        string       `group:"training" placeholder:"KIND" values:"auto,uniform,frequency,paper" help:"Penalty: uniform, frequency (by the rows of an entity), paper (uniform, with separate penalties of the two factors of wlr in primal space), or auto, which chooses on the validation set (default: auto)."`
	Lambda       *spec.Lambda `group:"training" placeholder:"X" values:"auto" help:"Weight of the penalty, as in 0.1, or 0.1,item=0.02 for a weight per core, or auto, which chooses on the validation set (default: auto)."`
	Sweeps       *int         `group:"training" placeholder:"N" help:"als, cavi: maximum number of sweeps over all cores (default: 30 for als, 60 for cavi)."`
	Patience     *int         `group:"training" placeholder:"N" help:"Stop after N sweeps or epochs without improvement on the validation set (default: 4)."`
	CGSteps      *int         `name:"cg-steps" group:"training" placeholder:"N" help:"als, cavi: conjugate gradient steps per inner core and sweep (default: 6)."`
	Prune        string       `group:"training" placeholder:"P" values:"yes,no" help:"cavi: remove components and terms that the data does not support, yes or no (default: yes)."`
	LearningRate *float64     `group:"training" placeholder:"X" help:"adam: learning rate (default: 0.01)."`
	Batch        *float64     `group:"training" placeholder:"SHARE" help:"adam: share of the training rows per step, 0.01 to 1 (default: 0.02)."`
	Epochs       *int         `group:"training" placeholder:"N" help:"adam: maximum number of epochs (default: 30)."`
	Schedule     string       `group:"training" placeholder:"NAME" values:"joint,block" help:"adam: joint (all cores per step) or block (one core per epoch) (default: joint)."`
	Refit        string       `group:"training" placeholder:"ROWS" values:"auto,none,valid,all" help:"Train the chosen model again on more rows: valid (training and validation set), all (every row, after the test set is measured) or none (default: auto if the terms are chosen, else none). auto is all for a random split, and valid for a split by time, file or column; it is none if the parts differ by id, and for more than a million rows unless they differ by time."`
	Seed         *uint64      `group:"training" placeholder:"N" help:"Seed of all random choices, 1 or more (default: 1)."`

	future  bool           // the command predicts what follows the table, whatever the split is
	unused  []dataset.Mode // columns that the guess leaves out and that may be covariates
	damaged []string       // warnings about columns of numbers that the guess leaves out because of units or values that are none, and about ids of totals
}
