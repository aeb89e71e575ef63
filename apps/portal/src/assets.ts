import { readFileSync } from 'node:fs'

/** Files by their paths. The islands always come from the build, even if the portal runs from its sources. */
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
