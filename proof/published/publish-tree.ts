import type { LogIdentity } from '#kernel/base/brands.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { TILE_WIDTH } from '../tree/growing-tree.ts';
import { type Leaves, leavesOf } from '../tree/leaves.ts';
import { ownHeadIn } from '../tree/note-key.ts';
import { proofsOf, widthOf } from '../tree/proofs.ts';
import { tileContentOf } from '../tree/tile-content.ts';
import { type NamedTile, tilePath } from '../tree/tile-paths.ts';
import { tileReader } from '../tree/tiles.ts';
import { originOf, type TreeHead } from '../tree/tree-head.ts';

type Dependencies = {
  readonly files: PublishedFiles;
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly log: LogIdentity;
  /** The place may be one that lets us write, and not delete. */
  readonly onNotRemoved?: (error: unknown) => void;
};

/** The name of the head among the files (C2SP tlog-tiles). */
const CHECKPOINT = 'checkpoint';
/** A process that stops still publishes a usual head, and leaves a long backlog to the next start. */
const TILES_AT_STOP_MAX = 50;
const REMOVED_AT_ONCE = 50;

/** Where the tree is published, and what it is read from. */
type Place = Dependencies & {
  readonly leaves: Leaves;
  readonly contentOf: ReturnType<typeof tileContentOf>;
};

/**
 * Publishes the tree as files (C2SP tlog-tiles): first the tiles that a head needs, then the head. It continues
 * where the published head ends, and publishes nothing that contradicts that.
 */
export const publishTreeTo = (dependencies: Dependencies) => {
  const { files, pool, masterKey, onNotRemoved = () => {} } = dependencies;
  const leaves = leavesOf(masterKey);
  const place: Place = { ...dependencies, leaves, contentOf: tileContentOf(pool, leaves) };
  /** The tiles that are or may be published, and not full, by their paths. */
  const partial = new Map<string, NamedTile>();
  /** The size of the head that the last call published; undefined before, and after one that failed. */
  let last: number | undefined;

  /** Writes the tiles in which a tree differs from a former one; returns false if that takes too long for a stop. */
  const writeTiles = async (
    { from, size, isContinued }: { from: number; size: number; isContinued: boolean },
    signal?: AbortSignal,
  ): Promise<boolean> => {
    let done = 0;
    for (const { level, first, end } of spansBetween(from, size))
      for (let index = first; index < end; index += 1)
        for (const kind of kindsOf(level)) {
          if (signal?.aborted === true && done > TILES_AT_STOP_MAX) return false;
          const tile = { level: kind, index, width: widthOf(size, level, index) };
          if (isContinued) await files.write(pathOf(tile), await place.contentOf(tile));
          else await writeIfOther(place, tile);
          if (tile.width < TILE_WIDTH) partial.set(pathOf(tile), tile);
          done += 1;
        }
    return true;
  };

  /** The first of these heads that is right, and that the files do not have yet. */
  return async (notes: readonly string[], signal?: AbortSignal): Promise<void> => {
    const published = await publishedHead(place);
    const from = published?.size ?? 0;
    const sizes = await Promise.all(notes.map((note) => sizeIn(place, note)));
    const newer = sizes.findIndex((size) => size !== undefined && size > from);
    const at = newer >= 0 ? newer : sizes.indexOf(from);
    const [note, size] = [notes[at], sizes[at]];
    // Another process, which builds the chain since, has published more.
    if (note === undefined || size === undefined) return;
    if (published !== undefined) await demandPrefix(place, published, size);
    // Another process, or this one before it failed, may have published more than the head says.
    const isContinued = last === from;
    last = undefined;
    if (!isContinued) for (const tile of partialTilesAt(from)) partial.set(pathOf(tile), tile);
    if (!(await writeTiles({ from, size, isContinued }, signal))) return;
    if (((await publishedHead(place))?.size ?? 0) > size) return;
    await files.write(CHECKPOINT, Buffer.from(note));
    last = size;
    if (signal?.aborted !== true) await removeFilled(files, partial, size).catch(onNotRemoved);
  };
};

const publishedHead = async ({ files, pool, masterKey, log }: Place): Promise<TreeHead | undefined> => {
  const text = (await files.read(CHECKPOINT))?.toString();
  if (text === undefined) return undefined;
  const { head } = (await ownHeadIn({ connection: pool, masterKey }, text)) ?? {};
  if (head?.origin !== originOf(log)) throw new PublishedElsewhere('the head there is not of this log');
  return head;
};

const demandPrefix = async ({ pool, leaves }: Place, published: TreeHead, size: number): Promise<void> => {
  if (published.size === 0) return;
  const root = await proofsOf(tileReader(pool, leaves), size).rootAt(published.size);
  if (!root.equals(published.root))
    throw new PublishedElsewhere(`the tree there has other events among the first ${published.size}`);
};

/** A note in the database may have been edited: only one that we have signed for this log is published. */
const sizeIn = async ({ pool, masterKey, log }: Place, note: string): Promise<number | undefined> => {
  const { head } = (await ownHeadIn({ connection: pool, masterKey }, note)) ?? {};
  return head?.origin === originOf(log) ? head.size : undefined;
};

/**
 * A process before may have written it. Each is compared, because the place may have lost any of them: nobody would
 * notice before somebody checks an event that needs it.
 */
const writeIfOther = async ({ files, contentOf }: Place, tile: NamedTile): Promise<void> => {
  const [written, wanted] = [await files.read(pathOf(tile)), await contentOf(tile)];
  if (written?.equals(wanted) !== true) await files.write(pathOf(tile), wanted);
};

const removeFilled = async (
  files: PublishedFiles,
  partial: Map<string, NamedTile>,
  size: number,
): Promise<void> => {
  const filled = [...partial].filter(
    ([_, { level, index }]) => widthOf(size, level ?? 0, index) === TILE_WIDTH,
  );
  // Files that cannot be removed now stay until the next start, or for ever: they do no harm.
  for (const [path] of filled) partial.delete(path);
  for (let at = 0; at < filled.length; at += REMOVED_AT_ONCE) {
    const removed = filled.slice(at, at + REMOVED_AT_ONCE);
    await Promise.all(removed.map(([path]) => files.remove(path)));
  }
};

const pathOf = (tile: NamedTile): string => `tile/${tilePath(tile)}`;

/** The tiles of a level from the first one that differs. */
type Span = { readonly level: number; readonly first: number; readonly end: number };

/** The tiles in which a tree of `size` leaves differs from one of `from`. */
function* spansBetween(from: number, size: number): Generator<Span> {
  for (let level = 0, before = from, count = size; count > before; level += 1) {
    before = Math.floor(before / TILE_WIDTH);
    yield { level, first: before, end: Math.ceil(count / TILE_WIDTH) };
    count = Math.floor(count / TILE_WIDTH);
  }
}

/** In the order in which they are written: without a level, the entries. */
const kindsOf = (level: number): readonly NamedTile['level'][] =>
  level === 0 ? [level, undefined] : [level];

/**
 * The partial tiles that a process before may have left in a tree of this size: those of the tiles that are partial, and
 * of the ones before them, if it ended right after it had filled them.
 */
function* partialTilesAt(size: number): Generator<NamedTile> {
  for (let level = 0, count = size; count > 0; level += 1, count = Math.floor(count / TILE_WIDTH)) {
    const newest = Math.floor(count / TILE_WIDTH);
    for (const index of newest === 0 ? [newest] : [newest - 1, newest])
      for (let width = 1; width < TILE_WIDTH; width += 1)
        for (const kind of kindsOf(level)) yield { level: kind, index, width };
  }
}

/** The files are another log's, or their tree contradicts ours: nothing is replaced. */
class PublishedElsewhere extends Error {
  constructor(reason: string) {
    super(`${reason}, so nothing is published. Name another place, or find out who wrote it.`);
    this.name = 'PublishedElsewhere';
  }
}
