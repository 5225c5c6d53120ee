import { createHmac } from 'node:crypto';
import { extname } from 'node:path';
import type { EventDefinition } from '#kernel/base/events/define-event.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { html } from '#shared/html.ts';
import { type Policy, policyOf } from '#shared/policy.ts';
import { codeBlock } from '../code/block.ts';
import { sampleOf } from '../events/samples.ts';
import { readExamples } from '../guides/library.ts';
import { examplePath, guidePath } from '../guides/links.ts';
import { type Content, type DocsPage, hrefFrom } from '../page/page.ts';

const PATH = '/docs/webhook-verification';

/**
 * How a receiver verifies the sender of a request: in words, with test values for its own code, and as
 * programs.
 */
export const verificationPage = (domain: Domain): DocsPage => ({
  path: PATH,
  title: 'Verifying webhooks',
  content: () => readContent(exampleOf(domain), policyOf(domain)),
});

/** An event that many subscribe to. */
const exampleOf = (domain: Domain): EventDefinition => {
  const events = Object.values(domain.kinds).flatMap((kind) => Object.values(kind.events));
  const { find, definitions } = catalogueOf(domain);
  const example = find(events.find(({ spec }) => spec.subscribe === true)?.type ?? '') ?? definitions[0];
  if (example === undefined) throw new Error('There are no events');
  return example;
};

/** The secret signs nothing but this page. */
const SECRET = `whsec_${Buffer.from('an example of a secret, not one!').toString('base64')}`;
const ID = '0b7c1f3e-9a4d-4c5e-8f60-718293a4b5c6';
const TIMESTAMP = '1795273445';

const PROGRAMS = [
  ['receive-webhook.js', 'Node', 'No dependencies.'],
  ['receive-webhook.py', 'Python', 'Only the standard library.'],
  ['receive-webhook.sh', 'A shell', 'bash and openssl, as a CGI script.'],
] as const;

const readContent = async (example: EventDefinition, policy: Policy): Promise<Content> => {
  const examples = new Map(readExamples().map(({ name, text }) => [name, text]));
  const { byWebhook } = await sampleOf(example, policy);
  const body = byWebhook?.thin ?? '';
  const signed = `${ID}.${TIMESTAMP}.${body}`;
  const signature = createHmac('sha256', Buffer.from(SECRET.replace('whsec_', ''), 'base64'))
    .update(signed)
    .digest('base64');
  const programs = PROGRAMS.map(([name, title, note]) => ({
    id: title.toLowerCase().replace(' ', '-'),
    name,
    title,
    note,
  }));
  return {
    body: html`<h1>Verifying webhooks</h1>
<p>Anybody can send requests to your endpoint. Annals signs its requests with the secret that the registration returned, as defined by
<a href="https://www.standardwebhooks.com">Standard Webhooks</a>. There are libraries for many languages.
<a href="${hrefFrom(PATH, guidePath('webhooks'))}">Webhooks</a> explains the rest.</p>
<h2 id="steps">What to check</h2>
<ol>
<li>Use the bytes of the body as received: parsing and serializing it can change them.</li>
<li>Refuse a request whose <code>webhook-timestamp</code> is more than five minutes off; otherwise somebody could replay a recorded request.</li>
<li>Compute the HMAC-SHA256 of <code>{webhook-id}.{webhook-timestamp}.{body}</code>. The key is the base64-decoded part of the secret after <code>whsec_</code>.</li>
<li>Compare its base64, in constant time, with each signature in <code>webhook-signature</code>. The signatures are separated by spaces and begin with <code>v1,</code>.
During a rotation of the secret there are two. One match is enough.</li>
<li>Ignore a <code>webhook-id</code> that you have already processed: the same request can arrive twice.</li>
</ol>
<h2 id="numbers">Test values</h2>
<p>Your code is correct if it computes this signature from these values.</p>
<h3 id="secret">The secret</h3>
${codeBlock(SECRET)}
<h3 id="request">The request</h3>
${codeBlock(`webhook-id: ${ID}\nwebhook-timestamp: ${TIMESTAMP}\nwebhook-signature: v1,${signature}\n\n${body}`, 'http')}
<h3 id="signed">The signed text</h3>
${codeBlock(signed)}
<h3 id="try">Try a receiver</h3>
<p><a href="${hrefFrom(PATH, examplePath('send-webhook.sh'))}">send-webhook.sh</a> sends a freshly signed event as Annals does, with openssl and curl.</p>
${programs.map(
  ({ id, name, title, note }) => html`<h2 id="${id}">${title}</h2>
<p>${note} It is <a href="${hrefFrom(PATH, examplePath(name))}">docs/examples/${name}</a>, which the tests run.</p>
${codeBlock(examples.get(name) ?? '', extname(name).slice(1))}
`,
)}`,
    sections: [
      { id: 'steps', title: 'What to check' },
      { id: 'numbers', title: 'Test values' },
      ...programs.map(({ id, title }) => ({ id, title })),
    ],
  };
};
