import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type RequestHandler, Router } from 'express';
import { refuseOtherMethods } from '#edge/http/answer-errors.ts';
import { answerPage } from '#edge/pages/page.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { EventLog } from '#shared/event-log/event-log.ts';
import { html } from '#shared/html.ts';
import { readAuditKeys } from '../stored/signing-keys.ts';
import { verifierKeyOf } from '../tree/note.ts';
import { noteKeyOf } from '../tree/note-key.ts';
import { bundle } from './bundle.ts';

type Dependencies = { readonly pool: Pool; readonly eventLog: Pick<EventLog, 'identity'> };

const CHECK_PATH = '/audit/check';

/**
 * `GET /audit/check`: the check of proofs as one page, which sends nothing, and works from a disk as well. It has
 * the keys of this log, which a stranger should rather bring.
 */
export const checkPageRoutes = ({ pool, eventLog }: Dependencies): Router => {
  // Lazily, because stripping the types would delay the start.
  let parts: Parts | undefined;
  let latest: { readonly keys: string; readonly answer: RequestHandler } | undefined;
  return Router()
    .get(CHECK_PATH, async (request, response, next) => {
      const found = await readAuditKeys(pool);
      const keys = found
        .map(({ publicKey }) => verifierKeyOf(noteKeyOf(publicKey, eventLog.identity)))
        .join('\n');
      if (latest?.keys !== keys) {
        parts ??= readParts();
        latest = {
          keys,
          answer: answerPage(pageOf(parts, keys), `${policyOf(parts)}; frame-ancestors 'none'`),
        };
      }
      latest.answer(request, response, next);
    })
    .all(CHECK_PATH, refuseOtherMethods('GET', 'HEAD'));
};

type Parts = { readonly script: string; readonly style: string };

const EXTENSION = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

const STYLES = ['../../console/app/style/colours.css', './page.css'] as const;

const readParts = (): Parts => ({
  script: bundle(new URL('./page.js', import.meta.url), {
    'node:crypto': new URL(`./browser/crypto${EXTENSION}`, import.meta.url),
    'node:buffer': new URL(`./browser/buffer${EXTENSION}`, import.meta.url),
  }),
  style: STYLES.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')).join(''),
});

/** Nothing loads and nothing is sent: only this script and this style run. */
const policyOf = ({ script, style }: Parts): string =>
  [
    "default-src 'none'",
    `script-src '${digestOf(script)}'`,
    `style-src '${digestOf(style)}'`,
    // The empty icon.
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

const digestOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

const pageOf = (parts: Parts, keys: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf(parts)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Check a proof · Annals</title>
<link rel="icon" href="data:,">
<style>${parts.style}</style>
</head>
<body>
<header><p class="brand">Annals</p></header>
<main>
<h1>Check a proof</h1>
<p>Of an event, of an item, or that a log only grew. The check runs in this page alone: it sends nothing, and works without a network.</p>
<form id="check">
<div>
<label for="file">Proof file</label>
<input type="file" id="file" multiple>
<p class="hint" id="taken" role="status">Choose it, drop it anywhere on this page, or paste its text.</p>
</div>
<div>
<label for="proof">Text of the proof</label>
<textarea id="proof" rows="6" spellcheck="false" autocomplete="off"></textarea>
</div>
<div>
<label for="keys">Key of the log</label>
<textarea id="keys" rows="3" spellcheck="false" autocomplete="off" aria-describedby="keys-hint"></textarea>
<p class="hint" id="keys-hint">A line such as annals/6f96…+0a1b2c3d+AR…, or the contents of keys.jsonl. A proof is worth what its key is worth: take it from somebody other than the one who gave you the proof.</p>
${keys === '' ? '' : ownKeys(keys)}
</div>
<details id="older">
<summary>Compare with a checkpoint that you have kept</summary>
<div>
<label for="kept">Kept checkpoint</label>
<textarea id="kept" rows="4" spellcheck="false" autocomplete="off" aria-describedby="kept-hint"></textarea>
<p class="hint" id="kept-hint">The proof above is then what /audit/log/consistency?from=… of the log returned.</p>
</div>
</details>
<div><button class="main">Check</button><button type="button" id="save">Save this page</button></div>
</form>
<div id="result" role="status" aria-live="polite"></div>
<noscript><p>This page needs JavaScript. Use <code>npx annals audit check</code> or verify-proof.py instead.</p></noscript>
</main>
<footer>Save the page and open it from your disk, and it checks the same: then nobody can change it. <code>npx annals audit check</code> says the same, and verify-proof.py needs neither.</footer>
<script>${parts.script}</script>
</body>
</html>
`;

const ownKeys = (keys: string): string =>
  String(html`<button type="button" id="own" data-keys="${keys}">Use the keys of this installation</button>
<p class="hint" id="own-says" hidden>These keys come with this page, from the log itself. They show that a file is of this log, and not that the log is what it says: as a stranger, bring a key that you got in another way.</p>`);
