// Lets calls take Eigen's vectors and matrices: `#include <dtau/eigen.hpp>` beside <dtau.hpp>.
//
//     Eigen::VectorXd q(model.nq()), tau(model.nv());
//     Eigen::Matrix<double, -1, -1, Eigen::RowMajor> M(model.nv(), model.nv());
//     mass_matrix(q, M);
//
// Nothing is copied: maps, blocks and references of contiguous double are taken as they are. dtau's
// matrices are by rows, so a matrix result needs Eigen::RowMajor. A batch of vectors also fits a
// matrix by columns, Eigen's default, with a state in each column. An expression without memory, other
// numbers and an inner stride do not compile; all else that does not fit is refused by the call.
#pragma once

#include <type_traits>

#include <Eigen/Core>

#include "dtau/library/views.hpp"

namespace dtau {

template <class T>
    requires std::is_base_of_v<Eigen::DenseBase<T>, T>
struct ArrayAdapter<T> {
    static_assert(std::is_same_v<typename T::Scalar, double>, "dtau: expected arrays of double");
    static_assert(static_cast<int>(Eigen::internal::traits<T>::Flags) & Eigen::DirectAccessBit,
                  "dtau: expected an array in memory, got an expression: evaluate it first");
    static_assert(static_cast<int>(T::InnerStrideAtCompileTime) == 1 ||
                      static_cast<int>(T::InnerStrideAtCompileTime) == Eigen::Dynamic,
                  "dtau: expected contiguous numbers, got an array with an inner stride");

    static const double* data(const T& array) { return array.data(); }
    static double* data(T& array)
        requires(static_cast<bool>(T::Flags & Eigen::LvalueBit))
    {
        return array.data();
    }
    static ArrayLayout layout(const T& array) {
        const bool list = array.rows() == 1 || array.cols() == 1;
        const std::ptrdiff_t inner = T::IsRowMajor ? array.cols() : array.rows();
        const bool contiguous = array.innerStride() == 1 && array.outerStride() == inner;
        if (array.size() > 1 && !(contiguous || (list && stride(array) == 1)))
            return ArrayLayout::scattered();
        return {array.size(), list ? 0 : T::IsRowMajor ? inner : -inner};
    }

  private:
    // Of the numbers of a vector, or of a matrix of a single row or column.
    static std::ptrdiff_t stride(const T& array) {
        const bool along = (array.rows() == 1) == static_cast<bool>(T::IsRowMajor);
        return along ? array.innerStride() : array.outerStride();
    }
};

}  // namespace dtau
