//! What an engine answers, read from Arrow: whole numbers and texts, and nothing else crosses.

use std::io::Cursor;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use queryables::mechanisms::query::Unavailable;
use spark_connect_proto::execute_plan_response::ArrowBatch;

/// What an engine has answered.
#[derive(Default)]
pub(crate) struct Answer {
    /// Each a stream of Arrow's.
    pub(crate) parts: Vec<ArrowBatch>,
    /// Whether it came in more than one stream.
    pub(crate) is_continued: bool,
}

/// The parts of an answer, each of which has as many rows as the engine says, and begins where the one
/// before has ended. An engine that does not say where they begin, as Sail, keeps a number of parts for
/// whoever asks for the rest, and forgets those before: nobody could see that they are missing.
pub(crate) fn batches(answer: Answer) -> Result<Vec<RecordBatch>, Unavailable> {
    let mut batches = Vec::new();
    let mut rows = 0;
    for part in answer.parts {
        let follows = match part.start_offset {
            Some(start) => start == rows,
            None => !answer.is_continued,
        };
        if !follows {
            return Err(Unavailable);
        }
        rows += part.row_count;
        let mut left = usize::try_from(part.row_count).map_err(|_| Unavailable)?;
        let reader = StreamReader::try_new(Cursor::new(part.data), None);
        for batch in reader.map_err(|_| Unavailable)? {
            let batch = batch.map_err(|_| Unavailable)?;
            left = left.checked_sub(batch.num_rows()).ok_or(Unavailable)?;
            batches.push(batch);
        }
        if left > 0 {
            return Err(Unavailable);
        }
    }
    Ok(batches)
}

/// A number that is there.
pub(crate) fn number(column: &dyn Array, row: usize) -> Result<i64, Unavailable> {
    let numbers = column.as_primitive_opt::<Int64Type>().ok_or(Unavailable)?;
    if numbers.is_null(row) {
        return Err(Unavailable);
    }
    Ok(numbers.value(row))
}

/// A text that is there, in any of Arrow's forms.
pub(crate) fn text(column: &dyn Array, row: usize) -> Result<String, Unavailable> {
    if column.is_null(row) {
        return Err(Unavailable);
    }
    if let Some(texts) = column.as_string_opt::<i32>() {
        return Ok(texts.value(row).to_owned());
    }
    if let Some(texts) = column.as_string_opt::<i64>() {
        return Ok(texts.value(row).to_owned());
    }
    let texts = column.as_string_view_opt().ok_or(Unavailable)?;
    Ok(texts.value(row).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Int64Array;
    use arrow_ipc::writer::StreamWriter;
    use std::sync::Arc;

    /// A part with this number of rows, which says that it has `said` and begins at `start`.
    fn part(rows: i64, said: i64, start: Option<i64>) -> ArrowBatch {
        let numbers = Arc::new(Int64Array::from_iter_values(0..rows));
        let batch = RecordBatch::try_from_iter([("n", numbers as _)]).unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        ArrowBatch {
            row_count: said,
            data: writer.into_inner().unwrap().into(),
            start_offset: start,
            ..ArrowBatch::default()
        }
    }

    #[test]
    fn parts_of_an_answer_leave_nothing_out() {
        let rows_of = |parts, is_continued| {
            let batches = batches(Answer {
                parts,
                is_continued,
            })?;
            Ok(batches.iter().map(RecordBatch::num_rows).sum::<usize>())
        };
        let rows = |parts: Vec<ArrowBatch>| rows_of(parts, false);
        assert_eq!(rows(vec![]), Ok(0));
        assert_eq!(rows(vec![part(3, 3, None), part(2, 2, None)]), Ok(5));
        let gapless = vec![part(3, 3, Some(0)), part(2, 2, Some(3))];
        assert_eq!(rows(gapless.clone()), Ok(5));
        // The first, or one in between, is not there; or one comes twice.
        assert_eq!(rows(vec![part(2, 2, Some(3))]), Err(Unavailable));
        let gap = vec![part(3, 3, Some(0)), part(2, 2, Some(4))];
        assert_eq!(rows(gap), Err(Unavailable));
        let twice = vec![part(3, 3, Some(0)), part(3, 3, Some(0))];
        assert_eq!(rows(twice), Err(Unavailable));
        // Where a stream has ended, nobody sees whether something is missing there.
        assert_eq!(rows_of(gapless.clone(), true), Ok(5));
        let unnumbered = vec![part(3, 3, None), part(2, 2, None)];
        assert_eq!(rows_of(unnumbered, true), Err(Unavailable));
        // Rows are missing, or there are too many.
        assert_eq!(rows(vec![part(3, 4, None)]), Err(Unavailable));
        assert_eq!(rows(vec![part(3, 2, None)]), Err(Unavailable));
        assert_eq!(rows(vec![part(3, -1, None)]), Err(Unavailable));
    }

    /// What Arrow writes ends with a mark that says so, which a reader does not need.
    #[test]
    fn a_part_that_is_cut_is_whole_or_unavailable() {
        let whole = part(3, 3, Some(0));
        let mut complete = 0;
        for length in 0..whole.data.len() {
            let mut cut = whole.clone();
            cut.data.truncate(length);
            let cut = Answer {
                parts: vec![cut],
                is_continued: false,
            };
            if let Ok(batches) = batches(cut) {
                let rows: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
                assert_eq!(rows, [3], "{length} bytes");
                complete += 1;
            }
        }
        assert!(complete < 16, "{complete} of {}", whole.data.len());
    }
}
