/** Error for invalid arguments. Nothing was done. */
export class WrongCall extends Error {}

/** Returns the error for arguments that could not be read. */
export function wrongArguments(program: string, problem: unknown): WrongCall {
  // Only the first sentence of Node's message about an option; the others explain dashes.
  const [sentence = ''] = (problem as Error).message.split('. To specify')
  return new WrongCall(`${sentence.replace(/\.?$/, '.')} See '${program} --help'.`, { cause: problem })
}

/** Runs a command and sets the exit code: 2 for invalid arguments, 1 if it fails. Prints the reason. */
export async function exitWith(run: (args: readonly string[]) => Promise<void>): Promise<void> {
  try {
    await run(process.argv.slice(2))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = error instanceof WrongCall ? 2 : 1
  }
}

/** Resolves at SIGINT or SIGTERM. */
export const untilStopped = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })

/** Reads a port. Throws an Error for any other text. */
export function portOf(value: string | undefined, byDefault: number): number {
  const port = countOf(value, byDefault)
  if (port > 65_535) throw new Error(`${port} is not a port; expected 0 to 65535.`)
  return port
}

/** Reads a whole number. Throws an Error for any other text. */
export function countOf(value: string | undefined, byDefault: number): number {
  if (value === undefined) return byDefault
  if (!/^\d{1,9}$/.test(value)) throw new Error(`${JSON.stringify(value)} is not a whole number.`)
  return Number(value)
}

/** Parses changes such as `receiptDelay=0`. */
export const changesOf = (changes: readonly string[] = []): Record<string, unknown> =>
  Object.fromEntries(
    changes.map((change) => {
      const at = change.indexOf('=')
      const value = change.slice(at + 1)
      const parsed = value === 'true' || value === 'false' ? value === 'true' : value
      return [change.slice(0, at), /^\d{1,15}$/.test(value) ? Number(value) : parsed]
    }),
  )

/** Sends a request to the control of a running program and prints the answer. */
export async function requestControl(
  program: string,
  method: string,
  path: string,
  port: number,
  body?: unknown,
): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const request = fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...sent })
  const response = await request.catch((cause: unknown) => {
    throw new Error(`No ${program} answers on port ${port} (--control-port).`, { cause })
  })
  const answer = await response.text()
  if (!response.ok) throw new Error(answer.trim())
  console.log(answer.trim())
}
