import { jsonIn } from '#edge/http/json-body.ts';
import type { HmacSignature } from '#kernel/registry/sender-info.ts';
import { bytesOf, demandSigned } from './digest.ts';
import { demandId, textAt, typesOf } from './places.ts';
import { demandHeader, demandRecent, type Received, type Verify } from './verifier.ts';

/** A digest in a header, over the body, and perhaps over its time and id. */
export const verifyHmac =
  (
    secrets: readonly Buffer[],
    { header, digest, encoding = 'hex', prefix = '', signs = '{body}', timestamp, id, type }: HmacSignature,
  ): Verify =>
  (received) => {
    const given = demandHeader(received, header);
    const signature = given.startsWith(prefix) ? bytesOf(given.slice(prefix.length), encoding) : undefined;
    const time = timestamp === undefined ? '' : demandHeader(received, timestamp);
    const contentOf = (word: string | undefined): string | Buffer => {
      if (word === 'body') return received.body;
      return word === 'timestamp' ? time : idIn(received, id);
    };
    // Texts and words take turns.
    const content = signs.split(/\{(\w+)\}/).map((part, index) => (index % 2 === 0 ? part : contentOf(part)));
    demandSigned({ secrets, content, digest, signatures: signature === undefined ? [] : [signature] });
    if (timestamp !== undefined) demandRecent(time, received.nowMs);
    const payload = jsonIn(received.body);
    return {
      id: demandId(textAt(id, received, payload), id),
      types: typesOf(textAt(type, received, payload)),
      payload,
    };
  };

const idIn = (received: Received, id: HmacSignature['id']): string =>
  'header' in id ? demandHeader(received, id.header) : '';
