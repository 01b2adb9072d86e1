"""The public names of this package, and the module that each is loaded from on first use."""

from .confirm import recompute as recompute
from .contours.ball import BallContour as BallContour
from .contours.contour import Contour as Contour
from .counting.counts import Counts as Counts
from .counting.exact import Exact as Exact
from .counting.sparse import Sparse as Sparse
from .transforms.fft import FFT as FFT
