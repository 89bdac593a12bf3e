package ddbstore

// StrictRow is the sort key of a bucket's one row in a strict table, and so the
// Region that the row names. No Region of AWS is called that.
const StrictRow = "*"

// NewStrict returns a Store for limits that hold exactly, in all Regions
// together: a bucket has one row, which all of them write. The table must be a
// global table with multi-Region strong consistency, or be in one Region only;
// in any other, Regions would overwrite each other's charges. client talks to
// the replica of the process's own Region. NewStrict makes no call.
//
// A charge takes a round trip to the nearest other Region more than in a table
// of New, and at most one Region at a time can write a row: see the package
// documentation, Strict.
func NewStrict(client rowsAPI, table string) *Store {
	return &Store{client: client, table: table, row: StrictRow, strict: true}
}
