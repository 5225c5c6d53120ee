//! Checks a log of Annals with tlog_tiles and signed_note, which we did not write: the checkpoint, every entry
//! against it through the tiles, a proof of an event, and that the log only grew since an older checkpoint.
use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};
use signed_note::{Note, StandardVerifier, VerifierList};
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use tlog_tiles::{
    Checkpoint, Hash, HashReader, Tile, TileHashReader, TileReader, check_record, check_tree, record_hash,
    stored_hash_index,
};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, vkey, proof, kept, consistency] = arguments.as_slice() else {
        eprintln!("usage: check-log <host:port> <vkey> <proof> <kept checkpoint> <consistency>");
        std::process::exit(2);
    };
    match check_all(address, vkey, proof, kept, consistency) {
        Ok(entries) => println!("{entries}"),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}

fn check_all(address: &str, vkey: &str, proof: &str, kept: &str, consistency: &str) -> Done<u64> {
    let entries = check_log(address, vkey)?;
    check_proof(&std::fs::read_to_string(proof)?, vkey)?;
    check_growth(&std::fs::read(kept)?, &std::fs::read_to_string(consistency)?, vkey)?;
    Ok(entries)
}

fn open(signed: &[u8], vkey: &str) -> Done<Checkpoint> {
    let note = Note::from_bytes(signed).map_err(|error| format!("no note: {error:?}"))?;
    let verifiers = VerifierList::new(vec![Box::new(
        StandardVerifier::new(vkey).map_err(|error| format!("no key: {error:?}"))?,
    )]);
    let (verified, _) = note.verify(&verifiers).map_err(|error| format!("not verified: {error:?}"))?;
    if verified.is_empty() {
        return Err("nobody has signed".into());
    }
    let checkpoint = Checkpoint::from_bytes(note.text()).map_err(|error| error.to_string())?;
    if verified.iter().any(|signature| signature.name() != checkpoint.origin()) {
        return Err("another log has signed".into());
    }
    Ok(checkpoint)
}

/// HTTP/1.0 over the loopback needs no library.
fn get(address: &str, path: &str) -> Done<Vec<u8>> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /audit/log/{path} HTTP/1.0\r\nHost: {address}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or("no answer")?;
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    if !head.lines().next().is_some_and(|line| line.contains(" 200 ")) {
        return Err(format!("{path}: {head}").into());
    }
    Ok(answer[end + 4..].to_vec())
}

struct Tiles<'a>(&'a str);

impl TileReader for Tiles<'_> {
    fn height(&self) -> u8 {
        8
    }
    fn read_tiles(&self, tiles: &[Tile]) -> Result<Vec<Vec<u8>>, tlog_tiles::Error> {
        tiles
            .iter()
            .map(|tile| get(self.0, &path_of(tile)).map_err(|_| tlog_tiles::Error::InvalidTile))
            .collect()
    }
    fn save_tiles(&self, _tiles: &[Tile], _data: &[Vec<u8>]) {}
}

/// The paths of C2SP have no height, and call the data entries.
fn path_of(tile: &Tile) -> String {
    tile.path().replacen("tile/8/", "tile/", 1).replacen("/data/", "/entries/", 1)
}

/// Reads every entry, and returns their number.
fn check_log(address: &str, vkey: &str) -> Done<u64> {
    let checkpoint = open(&get(address, "checkpoint")?, vkey)?;
    let size = checkpoint.size();
    let tiles = Tiles(address);
    let hashes = TileHashReader::new(size, *checkpoint.hash(), &tiles);
    for first in (0..size).step_by(256) {
        let width = (size - first).min(256);
        let indexes: Vec<u64> = (first..first + width).map(|n| stored_hash_index(0, n)).collect();
        let leaves = hashes.read_hashes(&indexes)?;
        let tile = Tile::new(8, 0, first / 256, u32::try_from(width)?, true);
        let entries = get(address, &path_of(&tile))?;
        if entries.len() != leaves.len() * 34 {
            return Err("entries have another length".into());
        }
        for (entry, leaf) in entries.chunks(34).zip(&leaves) {
            if entry[..2] != [0, 32] || record_hash(&entry[2..]).0 != leaf.0 {
                return Err("an entry is not in the tree".into());
            }
        }
    }
    Ok(size)
}

fn hashes_in<'a>(lines: impl Iterator<Item = &'a str>) -> Done<Vec<Hash>> {
    lines.map(|line| Hash::parse_hash(line).map_err(Into::into)).collect()
}

fn check_proof(text: &str, vkey: &str) -> Done<()> {
    let (head, note) = text.split_once("\n\n").ok_or("no proof")?;
    let mut lines = head.lines().skip(1);
    let extra = lines.next().and_then(|line| line.strip_prefix("extra ")).ok_or("no extra")?;
    let more: serde_json::Value = serde_json::from_slice(&STANDARD.decode(extra)?)?;
    let event = more["event"].as_str().ok_or("no event")?;
    let mut entry = STANDARD.decode(more["salt"].as_str().ok_or("no salt")?)?;
    entry.extend(Sha256::digest(event));
    let index: u64 = lines.next().and_then(|line| line.strip_prefix("index ")).ok_or("no index")?.parse()?;
    let checkpoint = open(note.as_bytes(), vkey)?;
    let leaf = record_hash(&Sha256::digest(entry));
    check_record(&hashes_in(lines)?, checkpoint.size(), *checkpoint.hash(), index, leaf)?;
    Ok(())
}

fn check_growth(kept: &[u8], text: &str, vkey: &str) -> Done<()> {
    let former = open(kept, vkey)?;
    let (head, note) = text.split_once("\n\n").ok_or("no consistency")?;
    let newer = open(note.as_bytes(), vkey)?;
    let proof = hashes_in(head.lines().skip(1))?;
    check_tree(&proof, newer.size(), *newer.hash(), former.size(), *former.hash())?;
    Ok(())
}
