module holdfast/interop/rueidislock

go 1.26.0

require (
	github.com/redis/rueidis v1.0.79
	holdfast/interop/driver v0.0.0
)

require golang.org/x/sys v0.47.0 // indirect

replace holdfast/interop/driver => ../go
