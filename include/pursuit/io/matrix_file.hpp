#pragma once
// Matrices in files: MatrixMarket (plain or gzip), NumPy .npy, .npz (one dense array, or a SciPy sparse
// matrix), CSV and TSV with or without a header line and row names. The format of an input is detected from
// its content, never from its name; the format of an output is chosen by its extension.
//
// An entry that a sparse file does not store is a zero. Duplicate MatrixMarket entries are an error that
// names them; duplicates in a SciPy file are summed, as SciPy does. Every defect is an InvalidInput naming
// the file, the place (line, byte or position) and the value.

#include <filesystem>
#include <string>
#include <vector>

#include "pursuit/base/types.hpp"
#include "pursuit/data/data_matrix.hpp"

namespace pursuit {

/// A matrix with the names its file gave to rows and columns (empty where it gave none).
struct NamedMatrix {
  AnyMatrix matrix;
  std::vector<std::string> row_names;
  std::vector<std::string> column_names;
};

/// Whether the first line of a text holds column names. Where that is to be found out, a line that could be
/// either is refused: a row of numbers must not be lost as names.
enum class Header { find, yes, no };

struct MatrixReading {
  Header header = Header::find;
  int threads = 0;  // 0: all cores
};

/// Reads any supported format. NaN and infinite entries are refused.
NamedMatrix read_matrix(const std::filesystem::path& path, const MatrixReading& reading = {});

/// The same for algorithms alone, without a copy where the file's numbers can be used as they lie: .npy and
/// uncompressed .npz of float32 or float64, and .npy of whole numbers, are mapped into memory, so that a
/// matrix may be larger than that. The file must not be shortened while it is in use, which would end the
/// process.
struct MatrixData {
  DataMatrixPtr matrix;  // owns what it needs
  Index stored = 0;      // entries
  std::vector<std::string> row_names;
  std::vector<std::string> column_names;
};
/// Of a matrix that is in memory already, and must outlive this.
MatrixData in_memory(const NamedMatrix& matrix, int threads = 0);
MatrixData read_data(const std::filesystem::path& path, const MatrixReading& reading = {});

/// Writes in the format of the extension: .mtx, .mtx.gz, .npy, .npz, .csv, .tsv. The file appears whole or
/// not at all. Only .csv and .tsv keep the names; a sparse matrix stays sparse in .mtx, .mtx.gz and .npz
/// only. Throws InvalidArgument for an unknown extension, OutputFailure where it cannot be written.
void write_matrix(const std::filesystem::path& path, const NamedMatrix& matrix, int threads = 0);

/// Throws InvalidArgument unless write_matrix() knows the extension.
void require_matrix_extension(const std::filesystem::path& path);

}  // namespace pursuit
