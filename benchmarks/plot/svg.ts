/** Drawing as the text of its SVG elements. */
export interface Drawing {
  readonly width: number
  readonly height: number
  readonly elements: readonly string[]
}

/** Colours that colour-blind people can distinguish. */
export const colours = [
  '#0072b2',
  '#e69f00',
  '#009e73',
  '#cc79a7',
  '#56b4e9',
  '#d55e00',
  '#8c6d31',
  '#999999',
  '#44546a',
  '#f0e442',
  '#7b3294',
  '#a6d854',
  '#1b1b1b',
]
export const ink = '#222222'
export const faint = '#d0d0d0'
export const goalColour = '#c00000'

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const rounded = (value: number): string => String(Math.round(value * 10) / 10)

export interface TextStyle {
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly size?: number
  readonly bold?: boolean
  readonly fill?: string
}

export function textAt(x: number, y: number, text: string, style: TextStyle = {}): string {
  const { anchor = 'start', size = 13, bold = false, fill = ink } = style
  const weight = bold ? ' font-weight="bold"' : ''
  return `<text x="${rounded(x)}" y="${rounded(y)}" text-anchor="${anchor}" font-size="${size}"${weight} fill="${fill}">${escaped(text)}</text>`
}

export const line = (x1: number, y1: number, x2: number, y2: number, stroke = ink, width = 1, dashes = ''): string =>
  `<line x1="${rounded(x1)}" y1="${rounded(y1)}" x2="${rounded(x2)}" y2="${rounded(y2)}" stroke="${stroke}" stroke-width="${width}"${dashes === '' ? '' : ` stroke-dasharray="${dashes}"`}/>`

export const box = (x: number, y: number, width: number, height: number, fill: string): string =>
  `<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}" fill="${fill}"/>`

export const dot = (x: number, y: number, fill: string, radius = 5): string =>
  `<circle cx="${rounded(x)}" cy="${rounded(y)}" r="${radius}" fill="${fill}"/>`

/** Returns a complete SVG file with a title at the top and a caption below. */
export function svgOf(title: string, subtitle: string, { width, height, elements }: Drawing): string {
  const head = 62
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + head}" width="${width}" height="${height + head}" font-family="Helvetica, Arial, sans-serif" role="img">`,
    `<title>${escaped(title)}</title>`,
    box(0, 0, width, height + head, '#ffffff'),
    textAt(20, 28, title, { size: 18, bold: true }),
    textAt(20, 48, subtitle, { size: 12, fill: '#555555' }),
    `<g transform="translate(0 ${head})">`,
    ...elements,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}
