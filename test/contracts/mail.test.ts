import { Writable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { loadConfig } from '#process/load-config.ts';
import { createLog } from '#process/observability/log.ts';
import { type Mail, MailNotSent } from '../../auth/mail/mail.ts';
import { openSmtpMail } from '../../auth/mail/smtp/smtp-mail.ts';
import { openLogMail, openMail } from '../../auth/open-auth.ts';
import { startSmtpReceiver } from '../engines/smtp-receiver.ts';

/** The output of messages; `raw` is all of it. */
type Outlet = AsyncDisposable & {
  readonly mail: Mail;
  arrived(): readonly { to: string; subject: string; text: string }[];
  raw(): string;
};

const FROM = 'Annals <annals@example.com>';

const overSmtp = async (): Promise<Outlet> => {
  const receiver = await startSmtpReceiver();
  const mail = openSmtpMail({ url: receiver.url, from: FROM });
  return {
    mail,
    arrived: () =>
      receiver.messages.map(({ to, subject, text }) => ({ to: to.join(), subject, text: text.trimEnd() })),
    raw: () => receiver.messages.map(({ raw }) => raw).join('\n'),
    async [Symbol.asyncDispose]() {
      await mail[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
};

const LINE = /^Mail to (\S+), not sent in development: ([^\n]*)\n(.*)$/s;

const intoTheLog = async (): Promise<Outlet> => {
  const { destination, lines } = collector();
  const mail = openLogMail(createLog({ level: 'info', destination }));
  return {
    mail,
    arrived: () =>
      lines.map((line) => {
        const [, to = '', subject = '', text = ''] =
          LINE.exec((JSON.parse(line) as { msg: string }).msg) ?? [];
        return { to, subject, text };
      }),
    raw: () => lines.join('\n'),
    [Symbol.asyncDispose]: () => mail[Symbol.asyncDispose](),
  };
};

const collector = () => {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { destination, lines };
};

describe.each([
  ['over SMTP', overSmtp],
  ['into the log', intoTheLog],
])('mail %s', (_name, openOutlet) => {
  let outlet: Outlet;
  afterEach(() => outlet?.[Symbol.asyncDispose]());

  test('arrives unchanged at its recipient', async () => {
    outlet = await openOutlet();
    const link = `https://annals.example/account/reset?token=${'a'.repeat(300)}`;
    const message = {
      to: 'ada@example.com',
      subject: 'Ein neues Paßwort – jetzt',
      text: `Grüße,\n\n.\n${link}\n\nEnde`,
    };
    await outlet.mail.send(message);
    expect(outlet.arrived()).toEqual([message]);
  });

  test('each goes to one person, even if many are sent in parallel', async () => {
    outlet = await openOutlet();
    const people = Array.from({ length: 12 }, (_, index) => `person${index}@example.com`);
    await Promise.all(people.map((to) => outlet.mail.send({ to, subject: 'Hello', text: `for ${to}` })));
    const arrived = outlet
      .arrived()
      .toSorted((one, other) => Number(/\d+/.exec(one.to)) - Number(/\d+/.exec(other.to)));
    expect(arrived).toEqual(people.map((to) => ({ to, subject: 'Hello', text: `for ${to}` })));
  });

  test.each([
    ['a second recipient', { to: 'ada@example.com, eve@example.com' }],
    ['a recipient with a line', { to: 'ada@example.com\r\nBcc: eve@example.com' }],
    ['a name around the address', { to: 'Ada <ada@example.com>' }],
    ['a subject with a line', { subject: 'Hello\r\nBcc: eve@example.com' }],
    ['no subject', { subject: '' }],
    ['a text without an end', { text: 'x'.repeat(10_001) }],
  ])('%s is refused, and nothing is sent', async (_what, change) => {
    outlet = await openOutlet();
    await expect(
      outlet.mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello', ...change }),
    ).rejects.toThrow(MailNotSent);
    expect(outlet.raw()).toBe('');
  });
});

describe('SMTP', () => {
  test('names the sender, and suppresses automatic replies', async () => {
    await using outlet = await overSmtp();
    await outlet.mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' });
    expect(outlet.raw()).toContain('From: Annals <annals@example.com>');
    expect(outlet.raw()).toContain('Auto-Submitted: auto-generated');
  });

  test('sends the password that the server requires', async () => {
    const login = { user: 'annals@example.com', password: 'p/a:s s' };
    await using receiver = await startSmtpReceiver({ login });
    await using mail = openSmtpMail({ url: receiver.url, from: FROM });
    await mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' });
    expect(receiver.messages).toHaveLength(1);
  });

  test('sends no password to another machine without TLS', async () => {
    await using receiver = await startSmtpReceiver({ login: { user: 'annals', password: 'secret' } });
    // The same machine by an address that looks like another.
    await using mail = openSmtpMail({
      url: receiver.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'),
      from: FROM,
    });
    await expect(mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' })).rejects.toThrow(
      MailNotSent,
    );
    expect([receiver.logins, receiver.messages]).toEqual([[], []]);
    await using near = openSmtpMail({ url: receiver.url, from: FROM });
    await near.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' });
    expect(receiver.logins).toEqual(['annals']);
  });

  test('reports a refusal without the address, and continues with the next message', async () => {
    await using receiver = await startSmtpReceiver({ refuse: (address) => address.startsWith('nobody') });
    await using mail = openSmtpMail({ url: receiver.url, from: FROM });
    const refusal = await mail
      .send({ to: 'nobody@example.com', subject: 'Hello', text: 'Hello' })
      .catch((error: Error) => error);
    expect(refusal).toMatchObject({
      code: 'mail_not_sent',
      cause: { message: expect.stringContaining('550') },
    });
    expect(`${(refusal as Error).stack}${((refusal as Error).cause as Error).stack}`).not.toContain(
      'nobody@',
    );
    await mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' });
    expect(receiver.messages).toHaveLength(1);
  });

  test('fails without a server', async () => {
    await using mail = openSmtpMail({ url: 'smtp://127.0.0.1:1', from: FROM });
    await expect(mail.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' })).rejects.toThrow(
      MailNotSent,
    );
  });
});

describe('the mail of an installation', () => {
  const log = createLog({ level: 'silent' });
  const production = {
    NODE_ENV: 'production',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    PUBLIC_URL: 'https://annals.example',
  };

  test('is none in production without a server, and only the log in development', async () => {
    expect(await openMail({ config: loadConfig(production), log })).toBeUndefined();
    expect(await openMail({ config: loadConfig({ NODE_ENV: 'test' }), log })).toBeUndefined();
    expect(await openMail({ config: loadConfig({}), log })).toBeDefined();
  });

  test('is required in production for sign-ups', async () => {
    await expect(openMail({ config: loadConfig({ ...production, SIGNUP: 'reader' }), log })).rejects.toThrow(
      'set MAIL_URL and MAIL_FROM, or SIGNUP=off',
    );
  });

  test.each([
    [{ MAIL_URL: 'smtp://mail.example' }, 'MAIL_URL and MAIL_FROM go together'],
    [
      { MAIL_URL: 'http://mail.example', MAIL_FROM: 'a@example.com' },
      'MAIL_URL must be an smtp or smtps URL',
    ],
    [{ MAIL_URL: 'smtp://mail.example', MAIL_FROM: 'a@example.com\nBcc: b@example.com' }, 'MAIL_FROM is'],
  ])('is refused at start: %o', (settings, sentence) => expect(() => loadConfig(settings)).toThrow(sentence));
});
