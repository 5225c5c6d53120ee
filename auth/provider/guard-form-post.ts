import { createHash } from 'node:crypto';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { formTargetsOf } from '../pages/form-targets.ts';

/**
 * The one page of oidc-provider's own (`response_mode=form_post`): a form that one script sends to the client. Nothing else may run, load, or
 * keep what is in it, which is a code. The pages of ours bring their policy with them.
 */
export const guardFormPost = (ctx: KoaContextWithOIDC): void => {
  if (typeof ctx.body !== 'string' || !ctx.response.is('html') || ctx.response.get('Content-Security-Policy')) return;
  const { params, client } = ctx.oidc;
  const [, script = ''] = /<script>([^<]*)<\/script>/.exec(ctx.body) ?? [];
  // Chromium applies `form-action` to the redirects that follow, too.
  const targets = formTargetsOf([String(params?.redirect_uri), ...(client?.redirectUris ?? [])]);
  ctx.set({
    'Content-Security-Policy': [
      "default-src 'none'",
      `script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
      `form-action ${targets.join(' ') || "'none'"}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    // Never the address, which holds what the client asked for; and not `no-referrer`, under which clients get `Origin: null`.
    'Referrer-Policy': 'strict-origin',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  });
};
