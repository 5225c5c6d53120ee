import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type ChainState, extendBy } from '../chain/chain-at.ts';
import { readStatement } from '../stored/signed-head.ts';
import { type AuditKey, endorsementText, isSignedBy, thumbprint } from '../stored/signing-keys.ts';
import { type ExportedEvent, fromLine } from './cloud-event.ts';
import { readWhole } from './folder.ts';
import { SignedManifest, signedText } from './manifest.ts';
import { type Person, personFrom } from './persons.ts';
import { MANIFEST } from './plan.ts';

export type OpenedExport = { readonly folder: string; readonly manifest: SignedManifest };

/**
 * Reads the manifest of an export. Refuses it without a valid signature, or if its keys do not endorse each
 * other.
 */
export const openExport = async (folder: string): Promise<OpenedExport> => {
  const text = await readWhole(folder, MANIFEST);
  if (text === undefined)
    throw new StartRefused(`There is no finished export in ${folder}: it has no ${MANIFEST}.`);
  const manifest = parseAs(SignedManifest, text, `${MANIFEST} in ${folder}`);
  const keyOf = createKeyring(manifest.keys);
  const signer = keyOf(manifest.key);
  if (!isSignedBy(signer.publicKey, signedText(manifest), manifest.signature))
    throw new StartRefused(
      `The signature of ${MANIFEST} in ${folder} by the key ${manifest.key} is invalid: it was changed.`,
    );
  for (const { statement, signature } of manifest.heads)
    if (!isSignedBy(keyOf(readStatement(statement).key).publicKey, statement, signature))
      throw new StartRefused(`The signature of a chain head in ${folder} is invalid: it was changed.`);
  return { folder, manifest };
};

/** Refuses an export that is signed neither by the known key, nor by one of its successors. */
export const demandSigner = ({ folder, manifest }: OpenedExport, known: string): void => {
  // Each key is endorsed by the previous one, as checked on opening.
  const ancestors = manifest.keys.slice(0, manifest.keys.findIndex(({ id }) => id === manifest.key) + 1);
  if (!ancestors.some(({ id }) => id === known))
    throw new StartRefused(
      `The export in ${folder} is signed neither by the key ${known} nor by one of its successors, but by ${manifest.key}: nothing was written.`,
    );
};

const createKeyring = (keys: readonly AuditKey[]): ((id: string) => AuditKey) => {
  const known = new Map<string, AuditKey>();
  let latest: AuditKey | undefined;
  for (const key of keys) {
    const { id, publicKey, endorsedBy, endorsement } = key;
    const isEndorsed =
      endorsedBy === (latest?.id ?? null) &&
      (latest === undefined || isSignedBy(latest.publicKey, endorsementText(key), endorsement ?? ''));
    if (thumbprint(publicKey) !== id || !isEndorsed)
      throw new StartRefused(
        `The key ${id} of this export is not endorsed by the one before it: it was changed.`,
      );
    known.set(id, key);
    latest = key;
  }
  return (id) => {
    const key = known.get(id);
    if (!key) throw new StartRefused(`The export was signed by a key that it does not contain: ${id}.`);
    return key;
  };
};

/** The events in order. A change is found at the latest when all have been read. */
export async function* readEvents({
  folder,
  manifest,
}: OpenedExport): AsyncGenerator<readonly ExportedEvent[]> {
  const { chain, after, upTo, log } = manifest;
  let state: ChainState = { count: chain.before.count, head: Buffer.from(chain.before.head, 'hex') };
  let last = after;
  const heads = new Map(
    manifest.heads.map(({ statement }) => readStatement(statement)).map((says) => [says.count, says.head]),
  );
  for (const { name, sha256 } of manifest.files) {
    for await (const lines of wholeLinesOf(folder, name, sha256)) {
      const events = lines.map((line) => parseEvent(log, line, name));
      for (const event of events) {
        state = extendBy(state, event);
        const signed = heads.get(state.count);
        if (event.position <= last || (signed !== undefined && signed !== state.head.toString('hex')))
          throw changed(name);
        last = event.position;
      }
      yield events;
    }
  }
  const isWhole =
    state.count === chain.after.count && state.head.toString('hex') === chain.after.head && last === upTo;
  if (!isWhole) throw changed(folder);
}

export async function* readPersons({
  folder,
  manifest: { persons },
}: OpenedExport): AsyncGenerator<readonly Person[]> {
  if (persons === null) return;
  for await (const lines of wholeLinesOf(folder, persons.name, persons.sha256)) yield lines.map(personFrom);
}

async function* wholeLinesOf(
  folder: string,
  name: string,
  sha256: string,
): AsyncGenerator<readonly string[]> {
  const hash = createHash('sha256');
  try {
    yield* linesOf(join(folder, name), (chunk) => hash.update(chunk));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new StartRefused(`${name} is missing in ${folder}.`, { cause });
  }
  if (hash.digest('hex') !== sha256) throw changed(name);
}

const changed = (what: string): StartRefused =>
  new StartRefused(`${what} differs from the manifest: it was changed, or cut off.`);

const parseEvent = (log: SignedManifest['log'], line: string, name: string): ExportedEvent => {
  try {
    return fromLine(log, line);
  } catch (cause) {
    throw new StartRefused(`A line of ${name} is not an event of this export: it was changed.`, { cause });
  }
};

const parseAs = <Schema extends z.ZodType>(schema: Schema, text: string, what: string): z.output<Schema> => {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof z.ZodError || cause instanceof SyntaxError)) throw cause;
    throw new StartRefused(
      `${what} does not have the format of this release: it was changed, or written by a later release.`,
      { cause },
    );
  }
};

const CHUNK_BYTES = 1_048_576;
const LINE_END = 10;

/** The lines of a file, many at a time. Only a line feed ends a line, unlike in `readline`. */
async function* linesOf(
  path: string,
  take: (chunk: Buffer) => void = () => {},
): AsyncGenerator<readonly string[]> {
  let rest: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    take(chunk);
    const end = chunk.lastIndexOf(LINE_END);
    if (end === -1) {
      rest.push(chunk);
      continue;
    }
    const whole = Buffer.concat([...rest, chunk.subarray(0, end)]).toString('utf8');
    rest = [chunk.subarray(end + 1)];
    yield whole.split('\n');
  }
  if (rest.some(({ length }) => length > 0)) throw new StartRefused(`${path} ends in the middle of a line.`);
}
