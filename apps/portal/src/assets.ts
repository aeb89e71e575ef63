import { readFileSync } from 'node:fs'

/** Files by their paths. The build bundles the islands, also when the sources are run. */
export const assets = new Map(
  (
    [
      ['portal.css', 'css', '../assets/'],
      ['portal.js', 'js', '../assets/'],
      ['icon.svg', 'svg', '../assets/'],
      ['counter.js', 'js', '../dist/islands/'],
      ['fields.js', 'js', '../dist/islands/'],
      ['chart.js', 'js', '../dist/islands/'],
      ['quote.js', 'js', '../dist/islands/'],
      ['file.js', 'js', '../dist/islands/'],
      ['answer.js', 'js', '../dist/islands/'],
    ] as const
  ).map(([name, type, folder]) => [
    `/assets/${name}`,
    { type, read: () => readFileSync(new URL(folder + name, import.meta.url)) },
  ]),
)
