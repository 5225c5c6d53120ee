import type { LogIdentity } from '#kernel/base/brands.ts';
import type { PublishedFiles } from '#shared/blobs/published-files.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import { TILE_WIDTH } from '../tree/growing-tree.ts';
import { leavesOf } from '../tree/leaves.ts';
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
};

/** The name of the head among the files (C2SP tlog-tiles). */
const CHECKPOINT = 'checkpoint';
/** A process that stops still publishes a usual head, and leaves a long backlog to the next start. */
const TILES_AT_STOP_MAX = 50;

/**
 * Publishes the tree as files (C2SP tlog-tiles): first the tiles that a head needs, then the head. It continues
 * where the published head ends, and publishes nothing that contradicts that.
 */
export const publishTreeTo = ({ files, pool, masterKey, log }: Dependencies) => {
  const leaves = leavesOf(masterKey);
  const contentOf = tileContentOf(pool, leaves);
  /** Those that are published, and not full. */
  let partial: NamedTile[] = [];

  const publishedHead = async (): Promise<TreeHead | undefined> => {
    const text = (await files.read(CHECKPOINT))?.toString();
    if (text === undefined) return undefined;
    const { head } = (await ownHeadIn({ connection: pool, masterKey }, text)) ?? {};
    if (head?.origin !== originOf(log)) throw new PublishedElsewhere('the head there is not of this log');
    return head;
  };

  const demandPrefix = async (published: TreeHead, size: number): Promise<void> => {
    if (published.size === 0) return;
    const root = await proofsOf(tileReader(pool, leaves), size).rootAt(published.size);
    if (!root.equals(published.root))
      throw new PublishedElsewhere(`the tree there has other events among the first ${published.size}`);
  };

  /** A note in the database may have been edited: only one that we have signed for this log is published. */
  const sizeIn = async (note: string): Promise<number | undefined> => {
    const { head } = (await ownHeadIn({ connection: pool, masterKey }, note)) ?? {};
    return head?.origin === originOf(log) ? head.size : undefined;
  };

  /** Of a tree that was begun before: a full tile is not sent twice. */
  const isThere = async (tile: NamedTile, content: Buffer): Promise<boolean> =>
    tile.width === TILE_WIDTH && (await files.read(pathOf(tile)))?.equals(content) === true;

  /** The first of these heads that is right, and that the files do not have yet. */
  return async (notes: readonly string[], signal?: AbortSignal): Promise<void> => {
    const published = await publishedHead();
    const from = published?.size ?? 0;
    const sizes = await Promise.all(notes.map(sizeIn));
    const newer = sizes.findIndex((size) => size !== undefined && size > from);
    const at = newer >= 0 ? newer : sizes.indexOf(from);
    const [note, size] = [notes[at], sizes[at]];
    // Another process, which builds the chain since, has published more.
    if (note === undefined || size === undefined) return;
    if (published !== undefined) await demandPrefix(published, size);
    let sent = 0;
    for (const tile of tilesBetween(from, size)) {
      if (signal?.aborted === true && sent > TILES_AT_STOP_MAX) return;
      const content = await contentOf(tile);
      if (from > 0 || !(await isThere(tile, content))) await files.write(pathOf(tile), content);
      if (tile.width < TILE_WIDTH) partial.push(tile);
      sent += 1;
    }
    if (((await publishedHead())?.size ?? 0) > size) return;
    await files.write(CHECKPOINT, Buffer.from(note));
    const isFilled = ({ level, index }: NamedTile) => widthOf(size, level ?? 0, index) === TILE_WIDTH;
    for (const tile of partial.filter(isFilled)) await files.remove(pathOf(tile));
    partial = partial.filter((tile) => !isFilled(tile));
  };
};

const pathOf = (tile: NamedTile): string => `tile/${tilePath(tile)}`;

/** The tiles in which a tree of `size` leaves differs from one of `from`. */
function* tilesBetween(from: number, size: number): Generator<NamedTile> {
  for (let level = 0, before = from, count = size; count > before; level += 1) {
    for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < count; index += 1) {
      const width = widthOf(size, level, index);
      yield { level, index, width };
      if (level === 0) yield { level: undefined, index, width };
    }
    before = Math.floor(before / TILE_WIDTH);
    count = Math.floor(count / TILE_WIDTH);
  }
}

/** The files are another log's, or their tree contradicts ours: nothing is replaced. */
class PublishedElsewhere extends Error {
  constructor(reason: string) {
    super(`${reason}, so nothing is published. Name another place, or find out who wrote it.`);
    this.name = 'PublishedElsewhere';
  }
}
