import { createTransport } from 'nodemailer';
import { demandPlain, type Mail, MailNotSent, type Message } from '../mail.ts';

/** Each step of the conversation with the server, and the whole of it. */
const STEP_MAX_MS = 10_000;
const SEND_MAX_MS = 30_000;
/** Connections that are kept for the next message, and how many messages one carries. */
const CONNECTIONS_MAX = 2;
const MESSAGES_PER_CONNECTION_MAX = 50;

type SmtpMailOptions = {
  /**
   * `smtp:` begins in clear and goes on under TLS where the server offers it; `smtps:` is TLS from the start.
   */
  readonly url: string;
  readonly from: string;
};

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Hands messages over to a server by SMTP. A password is never sent in clear to another machine. */
export const openSmtpMail = ({ url, from }: SmtpMailOptions): Mail => {
  const { hostname, port, protocol, username, password } = new URL(url);
  const auth =
    username === '' ? undefined : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    maxMessages: MESSAGES_PER_CONNECTION_MAX,
    host: hostname.replace(/^\[|\]$/g, ''),
    ...(port !== '' && { port: Number(port) }),
    secure: protocol === 'smtps:',
    requireTLS: auth !== undefined && !LOOPBACK.has(hostname),
    ...(auth && { auth }),
    connectionTimeout: STEP_MAX_MS,
    greetingTimeout: STEP_MAX_MS,
    socketTimeout: STEP_MAX_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const send = async ({ to, subject, text }: Message): Promise<void> => {
    // As an object, so that nothing is parsed out of it.
    await transport.sendMail({ from, to: { name: '', address: to }, subject, text, headers: AUTOMATIC });
  };
  return {
    reachesPeople: true,
    async send(message) {
      demandPlain(message);
      await within(SEND_MAX_MS, send(message)).catch((cause: unknown) => {
        throw new MailNotSent('the mail server did not take the message', { cause: withoutPeople(cause) });
      });
    },
    [Symbol.asyncDispose]: async () => transport.close(),
  };
};

/** Nobody's absence note comes back (RFC 3834). */
const AUTOMATIC = { 'Auto-Submitted': 'auto-generated' };

const within = async <Result>(limitMs: number, work: Promise<Result>): Promise<Result> => {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no end within ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** What a server says may repeat the address; what is left tells an operator enough. */
const withoutPeople = (cause: unknown): Error => {
  const { code, command, responseCode } = cause as {
    code?: unknown;
    command?: unknown;
    responseCode?: unknown;
  };
  const facts = [code, command, responseCode].filter(
    (fact) => typeof fact === 'string' || typeof fact === 'number',
  );
  return new Error(facts.length === 0 ? 'it gave no reason' : facts.join(' '));
};
