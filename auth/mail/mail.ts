/** A message to one person, in plain text. */
export type Message = { readonly to: string; readonly subject: string; readonly text: string };

/**
 * Sends messages to people. `send` returns once a server has accepted the message, and throws `MailNotSent`
 * otherwise. A message cannot inject a header or another recipient.
 */
export type Mail = AsyncDisposable & {
  send(message: Message): Promise<void>;
  /** Whether messages arrive at people rather than in a log. */
  readonly reachesPeople: boolean;
};

export class MailNotSent extends Error {
  readonly code = 'mail_not_sent';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MailNotSent';
  }
}

const SUBJECT_CHARACTERS_MAX = 200;
const TEXT_CHARACTERS_MAX = 10_000;
const CONTROL = /\p{Cc}/u;
/** One address only: no name, no list, no comment. */
const ADDRESS = /^[^\s@"<>(),:;[\]\\\p{C}]{1,64}@[^\s@"<>(),:;[\]\\\p{C}]{1,255}$/u;

/** The checks that every adapter makes first. */
export const demandPlain = ({ to, subject, text }: Message): void => {
  if (!ADDRESS.test(to)) throw new MailNotSent('the recipient is not one address');
  if (CONTROL.test(subject) || subject === '' || subject.length > SUBJECT_CHARACTERS_MAX)
    throw new MailNotSent('the subject is not one line');
  if (text.length > TEXT_CHARACTERS_MAX) throw new MailNotSent('the text is too long');
};
