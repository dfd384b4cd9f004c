package publicdata

import "fmt"

// specFile is the default specification file of kft fit.
const specFile = "kft.yaml"

const iowaSpec = `# Bottles sold by store, item and month, on the log scale: a joint term and a term per store-item pair.
version: 1

data:
  files: [%s]
  target: bottles
  modes: [store, item, time=year+month]

split: 'random:60/20/20'   # determined by the seed below
transform: log1p           # counts with a long tail
terms:
  - 'store,item,time:12'
  - 'store*item,time:3'

# Side information; uncomment to use it. It helps ids with few rows or none.
# side:
#   tables:
#     - 'store=stores.csv:city:cat,county:cat,zip:cat,lat,lon'
#     - 'item=items.csv:category_name:cat,pack:log,bottle_volume_ml:log,state_bottle_cost:log,state_bottle_retail:log'
#     - 'time=@year:num,@month:cycle12'
#   variant: additive
#   kernels: [matern32]

# uncertainty:
#   inference: mean-field       # a posterior distribution instead of a point estimate
seed: 1
`

const movielensSpec = `# Ratings by user, movie and hour of the day.
version: 1

data:
  files: [ratings.csv.gz]
  target: rating
  modes: [userId, movieId, hour(timestamp)]   # hour of the day, 0 to 23, in UTC

split: 'random:60/20/20'   # determined by the seed below
terms:
  - 'userId'               # one main effect per mode, and the interaction of users and movies
  - 'movieId'
  - 'hour'
  - 'userId,movieId:10'

uncertainty:
  inference: mean-field    # a posterior distribution: many ids have few ratings
`

const movielensGenres = `
# Side information; uncomment to use it.
# side:
#   tables:
#     - 'movieId=movies.csv:genres:labels,year'
#   variant: additive
#   kernels: [matern32]
seed: 1
`

const movielensGenome = `
# Side information; uncomment to use it: tags, or genres (movieId=movies.csv:genres:labels,year).
# side:
#   tables:
#     - 'movieId=genome.csv.gz'   # all columns
#   variant: additive
#   kernels: [matern32]
seed: 1
`

const salesSpec = `# Synthetic data with a known truth: truth.csv.gz has one line per row with the distribution it was drawn from.
version: 1

data:
  files: [%s]
  target: %s
  modes: [store, %s, time=year+month]

split: 'random:60/20/20'   # determined by the seed below
transform: log1p           # counts with a long tail
terms:                     # the structure of the truth
  - 'store'
  - '%[3]s'
  - 'time'
  - 'store,%[3]s,time:4'

side:
  tables:
%[4]s    - 'time=@month:cycle12'
  variant: additive   # a core is the sum of free weights and a function of the side information
  kernels: [matern32]

uncertainty:
  inference: mean-field   # a posterior distribution instead of a point estimate (map)
seed: 1
`

var (
	alcoholSpec = fmt.Sprintf(salesSpec, "sales_2015_2016.csv.gz", "bottles", "item",
		"    - 'store=stores.csv:city:cat,county:cat,zip:cat,lat,lon'   # zip has no effect\n"+
			"    # pack has no effect, and retail none beyond that of cost\n"+
			"    - 'item=items.csv:category_name:cat,pack:log,bottle_volume_ml:log,state_bottle_cost:log,state_bottle_retail:log'\n")
	retailSpec = fmt.Sprintf(salesSpec, "sales.csv.gz", "units", "article",
		"    # the year of opening, hours and floors have no effect\n"+
			"    - 'store=stores.csv:city:cat,county:cat,lat,lon,brand:cat,opened,hours,floors,area:log'\n"+
			"    # product, appearance and size have no effect\n"+
			"    - 'article=articles.csv:department:cat,product:cat,colour:cat,appearance:cat,size,season:cat,price:log'\n")
)
