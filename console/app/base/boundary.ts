import { Component, type ComponentChildren } from 'preact';
import { html } from './html.ts';

type BoundaryOptions = { readonly what: string; readonly children?: ComponentChildren };
type BoundaryState = { readonly error?: unknown };

/** Shows an error in place of a part of the page that fails to render; everything around it stays. */
export class Boundary extends Component<BoundaryOptions, BoundaryState> {
  static override getDerivedStateFromError(error: unknown): BoundaryState {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    console.error(error);
  }

  override render({ what, children }: BoundaryOptions, { error }: BoundaryState) {
    if (error === undefined) return children;
    return html`<div class="problem" role="alert">
      <h1>Error in ${what}</h1>
      <p>No data on the server was lost. Try again, or reload the page. If the error persists, report it with the text below.</p>
      <pre tabindex="0"><code>${reportOf(error)}</code></pre>
      <div class="tools"><button type="button" class="primary" onClick=${() => this.setState({ error: undefined })}>Try again</button>
      <button type="button" onClick=${() => location.reload()}>Reload the page</button></div>
    </div>`;
  }
}

/** The report for developers; it has none of the data that people have entered. */
const reportOf = (error: unknown): string =>
  `${location.pathname}\n${error instanceof Error ? (error.stack ?? String(error)) : String(error)}`.replaceAll(
    `${location.origin}/console/assets/`,
    '',
  );
