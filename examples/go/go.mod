module example.com/kft-example

go 1.26.8

require github.com/kernel-fried-tensor/kft v0.0.0

replace github.com/kernel-fried-tensor/kft => ../..
