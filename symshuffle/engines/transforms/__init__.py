"""The engine of tilted discrete Fourier transforms, and the convolution behind it."""
