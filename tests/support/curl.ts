/** Request of a `curl` line. Machines that run the tests need no curl. */
export interface CurlLine {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Splits a line like a shell: quotes and plain words. */
const shellWords = (line: string): string[] =>
  Array.from(line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g), ([, one, two, plain]) => one ?? two ?? plain ?? '')

export function readCurlLine(line: string): CurlLine {
  const words = shellWords(line.trim().replace(/; echo$/, ''))
  const headers: Record<string, string> = {}
  let [url, body]: [string, string | undefined] = ['', undefined]
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '-H') {
      const [name = '', value = ''] = (words[++at] ?? '').split(': ')
      headers[name] = value
    } else if (word === '-d') body = words[++at]
    else if (word !== '-s') url = word
  }
  return { url, headers, body }
}

/** Sends the request as curl does, with curl's default content type for a body. */
export async function runCurlLine({ url, headers, body }: CurlLine): Promise<string> {
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const request = body === undefined ? { headers } : { method: 'POST', headers: { ...type, ...headers }, body }
  const response = await fetch(url, request)
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${await response.text()}`)
  return response.text()
}
