//! The header of numpy's `.npy` layout, versions 1 to 3: type, order and shape of one array.

use std::io::{self, Read};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Longer headers belong to structured types, which hold no scores.
const LONGEST_HEADER: usize = 1 << 16;

/// What stands before the numbers of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Type in numpy's spelling, such as `<f4`.
    pub kind: String,
    /// Columns before rows.
    pub fortran: bool,
    pub shape: Vec<u64>,
    /// Bytes before the first number.
    pub length: u64,
}

impl Header {
    /// Reads the header; the reader then stands at the first number. The inner error says what is wrong with it.
    pub fn read(input: &mut dyn Read) -> io::Result<Result<Self, String>> {
        let mut start = [0; 8];
        if let Err(error) = input.read_exact(&mut start) {
            return ended(error, "it ends within the header");
        }
        if !start.starts_with(MAGIC) {
            return Ok(Err("it does not start as numpy arrays do".to_owned()));
        }
        let width = match start[6] {
            1 => 2,
            2 | 3 => 4,
            version => return Ok(Err(format!("version {version} of the array layout is not known"))),
        };
        let mut length = [0; 4];
        if let Err(error) = input.read_exact(&mut length[..width]) {
            return ended(error, "it ends within the header");
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > LONGEST_HEADER {
            return Ok(Err(format!("its header claims {length} bytes")));
        }
        let mut text = vec![0; length];
        if let Err(error) = input.read_exact(&mut text) {
            return ended(error, "it ends within the header");
        }
        let text = String::from_utf8_lossy(&text);
        let length = (start.len() + width + length) as u64;
        Ok(Self::parse(&text, length).ok_or_else(|| format!("its header is {:?}", text.trim_end())))
    }

    /// The dictionary of the header, as numpy writes it.
    fn parse(text: &str, length: u64) -> Option<Self> {
        let after = |key: &str| Some(text.split_once(key)?.1.trim_start().strip_prefix(':')?.trim_start());
        let kind = after("'descr'")?;
        let kind = match kind.strip_prefix('\'') {
            Some(rest) => rest.split_once('\'')?.0.to_owned(),
            // A structured type: a list of fields.
            None => kind.split_once(']')?.0.to_owned() + "]",
        };
        let order = after("'fortran_order'")?;
        let fortran = order.starts_with("True");
        if !fortran && !order.starts_with("False") {
            return None;
        }
        let (shape, _) = after("'shape'")?.strip_prefix('(')?.split_once(')')?;
        let sides = shape.split(',').map(str::trim).filter(|side| !side.is_empty());
        let shape = sides.map(|side| side.parse().ok()).collect::<Option<_>>()?;
        Some(Self { kind, fortran, shape, length })
    }

    /// The shape as numpy prints it, without parentheses.
    pub fn shape_text(&self) -> String {
        self.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
    }
}

fn ended<T>(error: io::Error, message: &str) -> io::Result<Result<T, String>> {
    if error.kind() == io::ErrorKind::UnexpectedEof { Ok(Err(message.to_owned())) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<Header, String> {
        Header::read(&mut &*bytes).expect("memory can be read")
    }

    #[test]
    fn both_versions_are_read() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }          \n";
        let mut one = b"\x93NUMPY\x01\x00".to_vec();
        one.extend((text.len() as u16).to_le_bytes());
        one.extend(text.bytes());
        let expected =
            Header { kind: "<f4".into(), fortran: false, shape: vec![3, 4], length: one.len() as u64 };
        assert_eq!(read(&one), Ok(expected.clone()));
        let mut two = b"\x93NUMPY\x02\x00".to_vec();
        two.extend((text.len() as u32).to_le_bytes());
        two.extend(text.bytes());
        assert_eq!(read(&two), Ok(Header { length: expected.length + 2, ..expected }));
        assert!(read(&two[..20]).unwrap_err().contains("ends within"));
    }

    #[test]
    fn other_headers() {
        let parse = |text| Header::parse(text, 0);
        let one = parse("{'descr': '>i8', 'fortran_order': True, 'shape': (7,), }").unwrap();
        assert_eq!((one.kind.as_str(), one.fortran, one.shape), (">i8", true, vec![7]));
        let fields = parse("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }").unwrap();
        assert_eq!((fields.kind.as_str(), fields.shape), ("[('a', '<f4')]", vec![]));
        assert_eq!(parse("{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4), }"), None);
        assert_eq!(parse("{}"), None);
        assert!(read(b"PK\x03\x04aaaaaaaaa").unwrap_err().contains("does not start"));
        assert!(read(b"\x93NUMPY\x09\x00aaaaaaa").unwrap_err().contains("version 9"));
    }
}
