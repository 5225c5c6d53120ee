import { type Html, html } from '#shared/html.ts';

/**
 * Hides what does not have what is typed in it; there only where scripts run, for without them it would do
 * nothing.
 */
export const filterField = (label: string): Html => html`<search class="filter">
<label for="filter">${label}</label>
<input id="filter" type="search" autocomplete="off" spellcheck="false">
<p id="filter-found" role="status"></p>
</search>`;
