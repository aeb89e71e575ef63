/// <reference lib="dom" />
import uPlot from 'uplot'

/**
 * Layers of the stacked bars from the bottom up: the heading of the table column, and the name of its colour in the
 * stylesheet.
 */
const layers = [
  ['Delivered', 'good'],
  ['On their way', 'wait'],
  ['Unknown', 'soft'],
  ['Failed', 'bad'],
] as const

const height = 220

interface Days {
  readonly names: readonly string[]
  /** For each layer, the height of its upper edge on each day, from the earliest day to the latest. */
  readonly tops: readonly (readonly number[])[]
}

/** Reads the figures of the table, which lists the latest day first. */
function read(table: HTMLTableElement): Days {
  const heads = Array.from(table.tHead?.rows[0]?.cells ?? [], ({ textContent }) => textContent)
  const rows = Array.from(table.tBodies[0]?.rows ?? []).reverse()
  const column = (head: string) => rows.map(({ cells }) => cells[heads.indexOf(head)]?.textContent ?? '')
  const sums = rows.map(() => 0)
  const tops = layers.map(([head]) =>
    column(head).map((text, i) => (sums[i] = (sums[i] ?? 0) + Number(text.replace(/\D/g, '')))),
  )
  return { names: column('Day'), tops }
}

function draw(place: HTMLElement, { names, tops }: Days): void {
  const style = getComputedStyle(document.documentElement)
  const colour = (name: string) => style.getPropertyValue(`--${name}`)
  const axis = { stroke: colour('soft'), grid: { stroke: colour('line'), width: 1 }, ticks: { show: false } }
  const bars = uPlot.paths.bars?.({ size: [0.8, 40] })
  place.replaceChildren()
  // Draw the highest layer first, because each lower layer then covers the bottom of the one above it.
  const order = layers.map((layer, i) => ({ layer, top: tops[i] ?? [] })).reverse()
  new uPlot(
    {
      ...{ width: place.clientWidth, height, legend: { show: false }, cursor: { show: false } },
      scales: {
        x: { time: false, range: [-0.6, names.length - 0.4] },
        y: { range: (_, __, most) => [0, Math.max(most, 5)] },
      },
      axes: [
        { ...axis, grid: { show: false }, values: (_, places) => places.map((at) => names[at] ?? '') },
        { ...axis, size: 60, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 1e6] },
      ],
      series: [
        {},
        ...order.map(({ layer: [, name] }) => ({
          ...{ fill: colour(name), stroke: colour(name), width: 0, points: { show: false } },
          ...(bars !== undefined && { paths: bars }),
        })),
      ],
    },
    [names.map((_, i) => i), ...order.map(({ top }) => [...top])],
    place,
  )
}

/** Returns the legend, which names each colour in words. */
function legend(): HTMLElement {
  const list = document.createElement('p')
  list.className = 'legend'
  for (const [head, name] of layers) {
    const word = document.createElement('span')
    word.className = name
    word.textContent = head
    list.append(word, ' ')
  }
  return list
}

/** Draws the chart of a table, and again whenever its figures change. The table itself is collapsed below the chart. */
export function mount(chart: HTMLElement): void {
  const details = chart.querySelector('details')
  if (details === null) return
  const place = document.createElement('div')
  place.className = 'plot'
  place.setAttribute('role', 'img')
  chart.prepend(place, legend())
  details.open = false
  const drawAgain = (): void => {
    const table = details.querySelector('table')
    if (table === null) return
    place.setAttribute('aria-label', `${table.caption?.textContent ?? ''}. The table below has the figures.`)
    draw(place, read(table))
  }
  drawAgain()
  new MutationObserver(drawAgain).observe(details, { childList: true, subtree: true })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAgain)
  addEventListener('resize', drawAgain)
}
