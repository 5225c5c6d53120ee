import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { until } from '../../testing/until.ts';

/** A message as a mail program reads it; `raw` is the transmitted text. */
type ReceivedMail = {
  readonly to: readonly string[];
  readonly from: string;
  readonly subject: string;
  readonly text: string;
  readonly raw: string;
};

export type SmtpReceiver = AsyncDisposable & {
  readonly url: string;
  readonly messages: readonly ReceivedMail[];
  /** The senders of passwords, right or wrong. */
  readonly logins: readonly string[];
  /** The first message to an address after `after` others. */
  mailTo(address: string, after?: number): Promise<ReceivedMail>;
};

type Options = {
  readonly login?: { readonly user: string; readonly password: string };
  readonly refuse?: (address: string) => boolean;
};

/** A mail server that stores its messages, on a port of its own. */
export const startSmtpReceiver = async ({
  login,
  refuse = () => false,
}: Options = {}): Promise<SmtpReceiver> => {
  const messages: ReceivedMail[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    disabledCommands: login === undefined ? ['AUTH', 'STARTTLS'] : ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: login === undefined,
    logger: false,
    onAuth({ username = '', password }, _session, done) {
      logins.push(username);
      if (username === login?.user && password === login?.password) done(null, { user: username });
      else done(new Error('wrong password'));
    },
    onRcptTo: ({ address }, _session, done) =>
      done(refuse(address) ? Object.assign(new Error('nobody here'), { responseCode: 550 }) : null),
    onData(stream, { envelope }, done) {
      keep(
        stream,
        envelope.rcptTo.map(({ address }) => address),
      ).then(
        (message) => {
          messages.push(message);
          done();
        },
        (error: Error) => done(error),
      );
    },
  });
  const keep = async (stream: NodeJS.ReadableStream, to: readonly string[]): Promise<ReceivedMail> => {
    const raw = await text(stream);
    const parsed = await PostalMime.parse(raw);
    return {
      to,
      from: parsed.from?.address ?? '',
      subject: parsed.subject ?? '',
      text: parsed.text ?? '',
      raw,
    };
  };
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const credentials =
    login === undefined ? '' : `${encodeURIComponent(login.user)}:${encodeURIComponent(login.password)}@`;
  return {
    url: `smtp://${credentials}127.0.0.1:${port}`,
    messages,
    logins,
    async mailTo(address, after = 0) {
      const found = await until(
        async () => messages.filter(({ to }) => to.includes(address))[after],
        (message) => message !== undefined,
      );
      if (found === undefined) throw new Error(`there is no mail to ${address}`);
      return found;
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
};

export const linkIn = ({ text }: Pick<ReceivedMail, 'text'>): string => {
  const link = /https?:\/\/\S+/.exec(text)?.[0];
  if (link === undefined) throw new Error(`there is no link in ${text}`);
  return link;
};
