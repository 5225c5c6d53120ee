import type { MessageInfo, Signature } from '../registry/sender-info.ts';

export type SenderDeclaration<Role extends string> = {
  /** A sentence for documentation. */
  readonly says?: string;
  /** How it signs its messages. The settings that it names have the secrets. */
  readonly signature: Signature;
  /** The role whose rights it has. It is no user, so a right to one’s own never includes it. */
  readonly as: Role;
  /** By type of message. Other types are acknowledged and ignored. */
  readonly on: { readonly [type: string]: MessageInfo };
  /**
   * The answer if the state of an item refuses the command: by default the refusal, after which many senders retry.
   * `acknowledge` answers with success, and the refusal stands in the body.
   */
  readonly refusals?: 'refuse' | 'acknowledge';
};
