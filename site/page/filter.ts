import { type Html, html } from '#shared/html.ts';

/**
 * Hides entries without the text typed into it. Shown only if scripts run, because it does nothing without
 * them.
 */
export const filterField = (label: string): Html => html`<search class="filter">
<label for="filter">${label}</label>
<input id="filter" type="search" autocomplete="off" spellcheck="false">
<p id="filter-found" role="status"></p>
</search>`;
