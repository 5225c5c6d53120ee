/** A message to one person, in plain text. */
export type Message = { readonly to: string; readonly subject: string; readonly text: string };

/**
 * Sends messages to people. `send` returns once somebody has taken the message over, and throws `MailNotSent`
 * where nobody did. Nothing in a message can become a header or another recipient.
 */
export type Mail = AsyncDisposable & {
  send(message: Message): Promise<void>;
  /** Whether messages arrive at the person, rather than in a log. */
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
/** One address and nothing around it: no name, no list, no comment. */
const ADDRESS = /^[^\s@"<>(),:;[\]\\\p{C}]{1,64}@[^\s@"<>(),:;[\]\\\p{C}]{1,255}$/u;

/** What every adapter refuses before it does anything. */
export const demandPlain = ({ to, subject, text }: Message): void => {
  if (!ADDRESS.test(to)) throw new MailNotSent('the recipient is not one address');
  if (CONTROL.test(subject) || subject === '' || subject.length > SUBJECT_CHARACTERS_MAX)
    throw new MailNotSent('the subject is not one line');
  if (text.length > TEXT_CHARACTERS_MAX) throw new MailNotSent('the text is too long');
};
