import { jsonIn } from '#edge/http/json-body.ts';
import { bytesOf, demandSigned } from './digest.ts';
import { demandId, textAt, typesOf } from './places.ts';
import { demandHeader, demandRecent, Unverified, type Verify } from './verifier.ts';

const HEADER = 'Stripe-Signature';
const ID = { field: 'id' } as const;
const TYPE = { field: 'type' } as const;

/** `Stripe-Signature: t=1714000000,v1=5257…`, over the time and the body. Other versions than `v1` are ignored. */
export const verifyStripe =
  (secrets: readonly Buffer[]): Verify =>
  (received) => {
    const parts = demandHeader(received, HEADER)
      .split(',')
      .map((part) => part.trim().split('=', 2) as [string, string?]);
    const valuesOf = (name: string) =>
      parts.flatMap(([each, value]) => (each === name && value !== undefined ? [value] : []));
    const [time, ...others] = valuesOf('t');
    if (time === undefined || others.length > 0)
      throw new Unverified(`${HEADER} must have one time: t=1714000000,v1=….`);
    demandSigned({
      secrets,
      content: [`${time}.`, received.body],
      signatures: valuesOf('v1').flatMap((text) => bytesOf(text, 'hex') ?? []),
    });
    demandRecent(time, received.nowMs);
    const payload = jsonIn(received.body);
    return {
      id: demandId(textAt(ID, received, payload), ID),
      types: typesOf(textAt(TYPE, received, payload)),
      payload,
    };
  };
