import { createHash, createSecretKey, randomBytes } from 'node:crypto';
import type { EventId, UserId } from '#kernel/base/brands.ts';
import { type SignatureProof, signatureProof } from '#kernel/base/signature.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { deriveKey, type MasterKey } from '#shared/keys/master-key.ts';
import { SealBroken, seal, unseal } from '#shared/keys/seal.ts';

/** A command that a person is asked to sign. */
export type AskedSignature = {
  readonly userId: UserId;
  /** The text whose hash is signed. */
  readonly statement: string;
  /** Hides personal values in the statement, which nobody can erase. It is recorded nowhere else. */
  readonly salt: string;
  readonly meaning: string;
  /** The command in words, and the item by its name. */
  readonly says: string;
  readonly item: string | null;
  /** The form as its person reads it, also its personal values. */
  readonly form: readonly (readonly [name: string, value: string])[];
};

/** How and when it was signed. */
type GivenSignature = { readonly at: string; readonly proof: SignatureProof };

export type FoundSignature = {
  readonly asked: AskedSignature;
  readonly given: GivenSignature | undefined;
};

/**
 * The signatures that commands wait for. The command role asks, the authorization server lets the person sign,
 * and the command that is sent again uses it up.
 */
export type Signatures = {
  /** Returns the id of the signature. */
  ask(asked: AskedSignature): Promise<string>;
  /** Undefined if there is none with this id, or if it has expired. */
  find(id: string): Promise<FoundSignature | undefined>;
  /** Returns false if it was signed before, or has expired. */
  give(id: string, proof: SignatureProof): Promise<boolean>;
  /** Returns false if another command has used it: the same command is known by its first event. */
  use(id: string, first: EventId): Promise<boolean>;
};

/** From the request of a command to its execution. */
export const SIGNED_WITHIN_MS = 15 * 60_000;
/** Of one person; a further one replaces the oldest. */
const OPEN_MAX = 50;
const ID_BYTES = 32;

type Dependencies = {
  readonly pool: Pick<Pool, 'query'>;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
};

type Row = {
  readonly user_id: UserId;
  readonly asked: Buffer;
  readonly signed: Buffer | null;
};

export const createSignatures = ({ pool, masterKey, clock }: Dependencies): Signatures => {
  const key = createSecretKey(deriveKey(masterKey, 'signature'));
  const bindingOf = (what: 'asked' | 'given', digest: Buffer, userId: UserId): string =>
    `signature:${what}:${digest.toString('base64url')}:${userId}`;
  const now = () => new Date(clock.nowMs());
  return {
    async ask(asked) {
      const { userId } = asked;
      const id = randomBytes(ID_BYTES).toString('base64url');
      const digest = digestOf(id);
      await makeRoom(pool, userId);
      await pool.query(
        'insert into auth.signature (digest, user_id, asked, expires_at) values ($1, $2, $3, $4)',
        [
          digest,
          userId,
          seal(key, Buffer.from(JSON.stringify(asked)), bindingOf('asked', digest, userId)),
          new Date(clock.nowMs() + SIGNED_WITHIN_MS),
        ],
      );
      return id;
    },
    async find(id) {
      const digest = digestOf(id);
      const { rows } = await pool.query<Row>(
        'select user_id, asked, signed from auth.signature where digest = $1 and expires_at > $2',
        [digest, now()],
      );
      const [row] = rows;
      if (row === undefined) return undefined;
      const open = (what: 'asked' | 'given', sealed: Buffer) =>
        opened(() => JSON.parse(unseal(key, sealed, bindingOf(what, digest, row.user_id)).toString('utf8')));
      const asked = open('asked', row.asked);
      if (asked === undefined) return undefined;
      const given = row.signed === null ? undefined : open('given', row.signed);
      return {
        asked: asked as AskedSignature,
        given: given as GivenSignature | undefined,
      };
    },
    async give(id, proof) {
      const digest = digestOf(id);
      const given = { at: now().toISOString(), proof: signatureProof.parse(proof) } satisfies GivenSignature;
      const { rows } = await pool.query<Pick<Row, 'user_id'>>(
        'select user_id from auth.signature where digest = $1',
        [digest],
      );
      const [row] = rows;
      if (row === undefined) return false;
      const sealed = seal(key, Buffer.from(JSON.stringify(given)), bindingOf('given', digest, row.user_id));
      const { rowCount } = await pool.query(
        'update auth.signature set signed = $2 where digest = $1 and signed is null and expires_at > $3',
        [digest, sealed, now()],
      );
      return rowCount === 1;
    },
    async use(id, first) {
      const { rowCount } = await pool.query(
        `update auth.signature set used_by = $2
         where digest = $1 and signed is not null and expires_at > $3 and (used_by is null or used_by = $2)`,
        [digestOf(id), first, now()],
      );
      return rowCount === 1;
    },
  };
};

const makeRoom = async (pool: Dependencies['pool'], userId: UserId): Promise<void> => {
  await pool.query(
    `delete from auth.signature where user_id = $1 and digest in (
       select digest from auth.signature where user_id = $1 order by expires_at desc offset $2)`,
    [userId, OPEN_MAX - 1],
  );
};

const digestOf = (id: string): Buffer => createHash('sha256').update(id).digest();

/** A row that we have not written counts as absent. */
const opened = (open: () => unknown): unknown => {
  try {
    return open();
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
};
