import { html } from '../base/html.ts';
import { Heading } from '../base/parts.ts';

export const NotThere = () =>
  html`<${Heading} title="There is nothing here" /><p>Check the address. <a href="/console/data">Go to the data</a></p>`;
