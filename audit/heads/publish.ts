import { readChainEnd } from '#shared/audit/blocks.ts';
import { tellPublished } from '#shared/audit/publication.ts';
import { insertHead, readNewestHead, readStatement, type StoredHead, writeStatement } from '#shared/audit/signed-head.ts';
import { type AuditKeyDependencies, openSigner } from '#shared/audit/signing-keys.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { readKeptDigest } from '../../projector/kept-digest.ts';
import { appendHeads, type HeadFiles, stampOfFiles } from './head-files.ts';
import { reconcile } from './reconcile.ts';

export type Publishing = AuditKeyDependencies & { readonly eventLog: Pick<EventLog, 'identity' | 'head'>; readonly files: HeadFiles };

/** Publishes heads one after the other; nobody else may at the same time. */
export type Publisher = {
  /**
   * Signs the chain as far as it is, and puts that outside the database; nothing where nothing was added since. What is no longer ours to
   * publish is left to whoever has taken over.
   */
  publish(isOurs?: () => boolean): Promise<void>;
};

export const createPublisher = (publishing: Publishing): Publisher => {
  const { pool, files } = publishing;
  /** Of heads and files as they were left here: where somebody else has written any, or not all was written, they are looked through again. */
  let stamp: string | undefined;
  let key: string | undefined;
  return {
    async publish(isOurs = () => true) {
      const signer = await openSigner(publishing);
      if (key !== signer.key || stamp !== (await stampOfAll(publishing))) await reconcile(publishing);
      key = signer.key;
      stamp = undefined;
      if (!isOurs()) return;
      const head = await signNext(publishing, signer);
      if (!isOurs()) return;
      if (head) await appendHeads(files, [head]);
      stamp = await stampOfAll(publishing);
      const newest = await readNewestHead(pool);
      await tellPublished(pool, { count: newest?.count ?? 0, at: newest ? readStatement(newest.statement).at : null });
    },
  };
};

const stampOfAll = async ({ pool, files }: Publishing): Promise<string> =>
  `${(await readNewestHead(pool))?.count} ${await stampOfFiles(files)}`;

/** First in the database: a process that dies in between leaves a head there that the next one finds to be missing outside. */
const signNext = async (
  { pool, eventLog }: Publishing,
  signer: Awaited<ReturnType<typeof openSigner>>,
): Promise<StoredHead | undefined> => {
  const end = await readChainEnd(pool);
  const newest = await readNewestHead(pool);
  if (end.count <= (newest?.count ?? 0)) return undefined;
  const { count, position } = end;
  const statement = writeStatement({
    v: 1,
    log: eventLog.identity,
    count,
    position,
    head: end.head.toString('hex'),
    at: new Date().toISOString(),
    readModel: (await readKeptDigest(pool)) ?? null,
    key: signer.key,
  });
  const head = { count, statement, signature: signer.sign(statement) };
  return (await insertHead(pool, head, signer.key)) ? head : undefined;
};
