import { Router } from 'express';
import { answerAsset } from '#edge/pages/asset.ts';
import { answerPage } from '#edge/pages/page.ts';
import { hrefFrom } from '../page/page.ts';
import { readModules } from './modules.ts';
import { FRAME_PATH } from './page.ts';

/**
 * The frame in which the lines run, and the modules. The frame has no origin, so it reads modules as another
 * site would; they are as public as the client.
 */
export const servePlayground = (): Router => {
  const modules = readModules();
  const router = Router({ strict: true });
  const script = hrefFrom(FRAME_PATH, modules.named('run.js').path);
  router.get(
    FRAME_PATH,
    answerPage(
      `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The running lines</title>
<script type="module" src="${script}"></script>
`,
      FRAME_POLICY,
    ),
  );
  for (const asset of modules.all) {
    const answer = answerAsset(asset);
    router.get(asset.path, async (request, response, next) => {
      response.set('Access-Control-Allow-Origin', '*');
      await answer(request, response, next);
    });
  }
  return router;
};

/**
 * The only page that may make code of text, and it can do nothing with it: it has no origin, thus no cookies and
 * no storage, and may send no request. Only our own pages may frame it.
 */
const FRAME_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-eval'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ');
