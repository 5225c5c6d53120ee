import { jsonIn } from '#edge/http/json-body.ts';
import { bytesOf, demandSigned } from './digest.ts';
import { demandId, textAt } from './places.ts';
import { demandHeader, headerOf, type Verify } from './verifier.ts';

const PREFIX = 'sha256=';
const ID = { header: 'X-GitHub-Delivery' } as const;
const ACTION = { field: 'action' } as const;

/** `X-Hub-Signature-256: sha256=…`, over the body alone. The type is the event, with its action if it has one. */
export const verifyGithub =
  (secrets: readonly Buffer[]): Verify =>
  (received) => {
    const given = demandHeader(received, 'X-Hub-Signature-256');
    const signature = given.startsWith(PREFIX) ? bytesOf(given.slice(PREFIX.length), 'hex') : undefined;
    demandSigned({
      secrets,
      content: [received.body],
      signatures: signature === undefined ? [] : [signature],
    });
    const payload = jsonIn(received.body);
    const event = headerOf(received, 'X-GitHub-Event');
    const action = textAt(ACTION, received, payload);
    return {
      id: demandId(headerOf(received, ID.header), ID),
      types: event === undefined ? [] : [...(action === undefined ? [] : [`${event}.${action}`]), event],
      payload,
    };
  };
