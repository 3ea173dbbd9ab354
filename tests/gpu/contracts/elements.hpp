// Small integers in the types that wgmma takes, memory full of them, and the products that a wgmma makes of such memory. Host only.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "check.hpp"
#include "ptxk/model/fragment.hpp"
#include "ptxk/model/layout.hpp"

namespace contracts {

enum class Type { bf16, f16, tf32, e4m3, e5m2, s8 };

constexpr uint32_t bytes_of(Type type) {
  return type == Type::tf32 ? 4 : type == Type::bf16 || type == Type::f16 ? 2 : 1;
}

// Up to this magnitude integers are tried: exact in the type, as are the sums of a hundred products in f16, f32 or s32.
constexpr int most(Type type) { return type == Type::s8 ? 127 : type == Type::e5m2 || type == Type::e4m3 ? 4 : 3; }

constexpr uint32_t float_bits(int value, int exponent_bits, int mantissa_bits) {
  const uint32_t sign = value < 0 ? 1u << (exponent_bits + mantissa_bits) : 0;
  const uint32_t magnitude = value < 0 ? -value : value;
  if (magnitude == 0) {
    return sign;
  }
  int power = 0;
  while (magnitude >> (power + 1)) {
    ++power;
  }
  const uint32_t bias = (1u << (exponent_bits - 1)) - 1;
  return sign | (bias + power) << mantissa_bits | ((magnitude << mantissa_bits >> power) & ((1u << mantissa_bits) - 1));
}

constexpr uint32_t encode(Type type, int value) {
  return type == Type::bf16   ? float_bits(value, 8, 7)
         : type == Type::f16  ? float_bits(value, 5, 10)
         : type == Type::tf32 ? float_bits(value, 8, 23)
         : type == Type::e4m3 ? float_bits(value, 4, 3)
         : type == Type::e5m2 ? float_bits(value, 5, 2)
                              : static_cast<uint32_t>(value) & 0xFF;
}

static_assert(encode(Type::bf16, 1) == 0x3F80 && encode(Type::bf16, -3) == 0xC040 && encode(Type::f16, 2) == 0x4000);
static_assert(encode(Type::tf32, 3) == 0x40400000 && encode(Type::e4m3, 1) == 0x38 && encode(Type::e5m2, -4) == 0xC4);
static_assert(encode(Type::s8, -1) == 0xFF);

// Bytes of one type: what each element holds, and the bytes to give the device.
class Memory {
 public:
  // Small integers everywhere, so that whatever is read says where it was read.
  Memory(Type type, uint32_t bytes, Random& random) : Memory(type, bytes) {
    for (uint32_t i = 0; i < values_.size(); ++i) {
      set(i * bytes_of(type_), random.between(-most(type), most(type)));
    }
  }
  // All bits set: NaN in every floating-point type, so that a stray read shows.
  Memory(Type type, uint32_t bytes) : type_(type), values_(bytes / bytes_of(type)), bytes_(bytes, 0xFF) {}

  void set(uint32_t byte, int value) {
    values_[byte / bytes_of(type_)] = value;
    const uint32_t bits = encode(type_, value);
    std::memcpy(&bytes_[byte], &bits, bytes_of(type_));
  }
  int at(uint32_t byte) const { return values_.at(byte / bytes_of(type_)); }
  Type type() const { return type_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  Type type_;
  std::vector<int> values_;
  std::vector<uint8_t> bytes_;
};

// A matrix of integers by rows.
struct Matrix {
  int rows, columns;
  std::vector<int> values = std::vector<int>(static_cast<size_t>(rows) * columns);
  int& at(int row, int column) { return values[static_cast<size_t>(row) * columns + column]; }
  int at(int row, int column) const { return values[static_cast<size_t>(row) * columns + column]; }
};

inline Matrix random_matrix(int rows, int columns, int most, Random& random) {
  Matrix matrix{rows, columns};
  for (int& value : matrix.values) {
    value = random.between(-most, most);
  }
  return matrix;
}

// What the model says that a descriptor reads of memory (addresses count from its start): extent x one instruction's K.
inline Matrix operand(const Memory& memory, uint64_t word, ptxk::model::Major major, int extent) {
  const ptxk::model::Descriptor descriptor = ptxk::model::decode(word);
  const uint32_t size = bytes_of(memory.type());
  Matrix read{extent, static_cast<int>(32 / size)};
  for (int mn = 0; mn < read.rows; ++mn) {
    for (int k = 0; k < read.columns; ++k) {
      read.at(mn, k) = memory.at(ptxk::model::element_byte(descriptor, major, size, mn, k));
    }
  }
  return read;
}

// sum += a * b^T: both have K as their columns.
inline void add_product(Matrix& sum, const Matrix& a, const Matrix& b) {
  for (int m = 0; m < a.rows; ++m) {
    const int* row = &a.values[static_cast<size_t>(m) * a.columns];
    for (int n = 0; n < b.rows; ++n) {
      const int* column = &b.values[static_cast<size_t>(n) * b.columns];
      int total = 0;
      for (int k = 0; k < a.columns; ++k) {
        total += row[k] * column[k];
      }
      sum.at(m, n) += total;
    }
  }
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix sum{a.rows, b.rows};
  add_product(sum, a, b);
  return sum;
}

// The 64 rows of `expected` from `first` on against the registers of 128 threads, N / 2 each, where the model of the fragment puts
// every element.
template <typename T, typename Where>
void compare(Tally& tally, const Matrix& expected, int first, const T* registers, Where where) {
  for (int m = 0; m < 64; ++m) {
    for (int n = 0; n < expected.columns; ++n) {
      const ptxk::model::Register at = ptxk::model::accumulator({m, n});
      tally.equal(expected.at(first + m, n), registers[at.thread * (expected.columns / 2) + at.index],
                  [&] { return where() + text(", row %d, column %d", first + m, n); });
    }
  }
}

}  // namespace contracts
