import { html } from '#shared/html.ts';
import type { Page } from './page.ts';

/** What went wrong with a request of an application: for its developer, and for whoever was sent here by it. */
export const providerErrorPage = ({ code, description }: { readonly code: string; readonly description: string | undefined }): Page => ({
  title: 'This request cannot be carried out',
  main: html`<h1>This request cannot be carried out</h1>
<p>${
    code === 'server_error'
      ? 'Something went wrong on our side. Go back to the application and try again.'
      : 'The application that sent you here asked for something that is not possible. Go back to it and try again.'
  }</p>
<h2>For its developer</h2>
<p><code>${code}</code>${description !== undefined && html`<br>${description}`}</p>`,
});
