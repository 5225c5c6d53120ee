import type { ShownSignature } from '#kernel/base/signature.ts';
import { html } from '../base/html.ts';
import { Time } from '../base/time.ts';
import { ActorName } from './names.ts';

/** The name, the meaning and the time of a signature. */
export const Signed = ({ signature: { by, meaning, at, means } }: { readonly signature: ShownSignature }) =>
  html`Signed by <${ActorName} actor=${by} /> as <strong><bdi>${meaning}</bdi></strong> <${Time} at=${at} /> with ${means === 'passkey' ? 'a passkey' : 'password and code'}`;
