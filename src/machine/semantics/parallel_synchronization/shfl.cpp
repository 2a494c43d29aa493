// PTX: Data Movement and Conversion Instructions: shfl, shfl.sync.
