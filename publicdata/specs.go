package publicdata

import "fmt"

// specFile is where kft fit looks for a specification.
const specFile = "kft.yaml"

const iowaSpec = `# Bottles sold by store, item and month, on the log scale: what is shared, and what is peculiar to a pair.
version: 1

data:
  files: [%s]
  target: bottles
  modes: [store, item, time=year+month]

split: 'random:60/20/20'   # by the seed below
transform: log1p           # counts with a long tail
terms:
  - 'store,item,time:12'
  - 'store*item,time:3'

# Side information; take the marks off to use it. It serves ids with few rows, and none.
# side:
#   tables:
#     - 'store=stores.csv:city:cat,county:cat,zip:cat,lat,lon'
#     - 'item=items.csv:category_name:cat,pack:log,bottle_volume_ml:log,state_bottle_cost:log,state_bottle_retail:log'
#     - 'time=@year:num,@month:cycle12'
#   variant: additive
#   kernels: [matern32]

# uncertainty:
#   inference: mean-field       # a posterior in place of a point
seed: 1
`

const movielensSpec = `# Ratings by user, movie and hour of the day.
version: 1

data:
  files: [ratings.csv.gz]
  target: rating
  modes: [userId, movieId, hour(timestamp)]   # the hour of the day, 0 to 23, in UTC

split: 'random:60/20/20'   # by the seed below
terms:
  - 'userId'               # an effect of each, and what users and movies have in common
  - 'movieId'
  - 'hour'
  - 'userId,movieId:10'

uncertainty:
  inference: mean-field    # a posterior: many ids have few ratings
`

const movielensGenres = `
# Side information; take the marks off to use it.
# side:
#   tables:
#     - 'movieId=movies.csv:genres:labels,year'
#   variant: additive
#   kernels: [matern32]
seed: 1
`

const movielensGenome = `
# Side information; take the marks off to use it: tags, or genres (movieId=movies.csv:genres:labels,year).
# side:
#   tables:
#     - 'movieId=genome.csv.gz'   # all columns
#   variant: additive
#   kernels: [matern32]
seed: 1
`

const salesSpec = `# Made from a known truth: truth.csv.gz has a line for each row, what it was drawn from.
version: 1

data:
  files: [%s]
  target: %s
  modes: [store, %s, time=year+month]

split: 'random:60/20/20'   # by the seed below
transform: log1p           # counts with a long tail
terms:                     # as the truth is made
  - 'store'
  - '%[3]s'
  - 'time'
  - 'store,%[3]s,time:4'

side:
  tables:
%[4]s    - 'time=@month:cycle12'
  variant: additive   # a core is free weights and what the tables explain
  kernels: [matern32]

uncertainty:
  inference: mean-field   # a posterior, in place of a point (map)
seed: 1
`

var (
	alcoholSpec = fmt.Sprintf(salesSpec, "sales_2015_2016.csv.gz", "bottles", "item",
		"    - 'store=stores.csv:city:cat,county:cat,zip:cat,lat,lon'   # zip says nothing\n"+
			"    # pack says nothing, and retail nothing that cost does not\n"+
			"    - 'item=items.csv:category_name:cat,pack:log,bottle_volume_ml:log,state_bottle_cost:log,state_bottle_retail:log'\n")
	retailSpec = fmt.Sprintf(salesSpec, "sales.csv.gz", "units", "article",
		"    # the year of opening, hours and floors say nothing\n"+
			"    - 'store=stores.csv:city:cat,county:cat,lat,lon,brand:cat,opened,hours,floors,area:log'\n"+
			"    # product, appearance and size say nothing\n"+
			"    - 'article=articles.csv:department:cat,product:cat,colour:cat,appearance:cat,size,season:cat,price:log'\n")
)
