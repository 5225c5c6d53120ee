import type { UserId } from '#kernel/base/brands.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { RecordSeal } from './seal-record.ts';

/** Everything that a user has allowed one application, in one or more grants. */
export type AllowedClient = {
  readonly clientId: string;
  readonly grantIds: readonly string[];
  readonly scopes: readonly string[];
  readonly sinceS: number;
  /** The time of its last token, if it uses refresh tokens; other uses are not stored. */
  readonly usedAtS: number | undefined;
};

type Row = {
  readonly kind: string;
  readonly idHash: Buffer;
  readonly sealed: Buffer;
  readonly grantId: string;
  readonly clientId: string;
};
/** The fields of oidc-provider's grants and refresh tokens that are read here. */
type Kept = {
  readonly iat?: number;
  readonly openid?: { readonly scope?: string };
  readonly resources?: Readonly<Record<string, string>>;
};

const RECORDS_MAX = 2_000;

/** The applications that may act for a user, the first allowed first. */
export const readAllowedClients =
  ({ pool, seal }: { pool: Pool; seal: RecordSeal }) =>
  async (userId: UserId): Promise<readonly AllowedClient[]> => {
    const allowed = new Map<string, AllowedClient>();
    const rows = await selectRecords(pool, userId);
    for (const row of rows) {
      const kept = seal.unseal(row.kind, row.idHash, row.sealed) as Kept;
      if (row.kind === 'Grant') allowed.set(row.clientId, withGrant(allowed.get(row.clientId), row, kept));
    }
    for (const row of rows) {
      const client = allowed.get(row.clientId);
      if (row.kind !== 'RefreshToken' || client === undefined) continue;
      const { iat = 0 } = seal.unseal(row.kind, row.idHash, row.sealed) as Kept;
      allowed.set(row.clientId, { ...client, usedAtS: Math.max(client.usedAtS ?? 0, iat) });
    }
    return [...allowed.values()].toSorted((one, other) => one.sinceS - other.sinceS);
  };

const withGrant = (
  known: AllowedClient | undefined,
  { clientId, grantId }: Row,
  { iat = 0, openid, resources }: Kept,
): AllowedClient => {
  const scopes = [openid?.scope ?? '', ...Object.values(resources ?? {})]
    .join(' ')
    .split(' ')
    .filter(Boolean);
  return {
    clientId,
    grantIds: [...(known?.grantIds ?? []), grantId],
    scopes: [...new Set([...(known?.scopes ?? []), ...scopes])],
    sinceS: Math.min(known?.sinceS ?? iat, iat),
    usedAtS: known?.usedAtS,
  };
};

const selectRecords = async (database: Pick<Pool, 'query'>, userId: UserId): Promise<readonly Row[]> => {
  const { rows } = await database.query<Row>(
    `select kind, id_hash as "idHash", sealed, grant_id as "grantId", client_id as "clientId" from auth.record
     where account_id = $1 and kind in ('Grant', 'RefreshToken') and ended_at is null and expires_at > now()
     order by kind, id_hash limit ${RECORDS_MAX}`,
    [String(userId)],
  );
  return rows;
};
