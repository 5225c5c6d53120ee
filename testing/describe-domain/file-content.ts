import { createHash } from 'node:crypto';
import type { Accepted } from '#kernel/decide/accepted-files.ts';
import { falseSamplesFor, type SampleFile } from '../sample-file.ts';
import type { Checks } from './checks.ts';
import { MERGE, type Stage } from './stage.ts';

type Content = {
  readonly path: string;
  /** The path of the aggregate or the item. */
  readonly item: string;
  readonly field: string;
  readonly address: string;
  readonly accepts: Accepted;
  readonly sample: SampleFile;
  readonly token: string | undefined;
};

/**
 * Another type, and content of another type, are refused. A file that is no picture is downloaded by browsers,
 * its address states its digest, and no form can state another one.
 */
export const checkContent = async (stage: Stage, checks: Checks, content: Content): Promise<void> => {
  const { path, field, address, accepts, sample, token } = content;
  const strange = { body: sample.body, type: 'application/x-unheard-of' };
  for (const wrong of [strange, ...falseSamplesFor(accepts)]) {
    const { status } = await stage.ask('PUT', path, { token, ...wrong });
    checks.equal(status, 415, `PUT of ${path} with ${wrong.type}`);
  }
  if (accepts.isPicture) return;
  const sha256 = createHash('sha256').update(sample.body).digest('hex');
  const query = new URLSearchParams(address.split('?')[1]);
  checks.equal(
    [query.get('type'), query.get('bytes'), query.get('sha256')],
    [sample.type, String(sample.body.length), sha256],
    `what ${address} states`,
  );
  const { status, headers } = await stage.ask('GET', address, { token: stage.admin.token });
  if (status === 200)
    checks.equal(
      [headers.get('content-type'), headers.get('x-content-type-options')],
      [sample.type, 'nosniff'],
      `the headers of ${address}`,
    );
  const forged = await stage.ask('PATCH', content.item, {
    token,
    body: { [field]: address.replace(sha256, '0'.repeat(64)) },
    type: MERGE,
  });
  checks.equal(
    forged.status,
    422,
    `PATCH of ${content.item} with another digest: ${JSON.stringify(forged.body)}`,
  );
};
