import { openHttpConnection } from './http-connection.ts'
import { numberAt } from './numbers.ts'
import { text } from './send-requests.ts'

export interface KannelLoad {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly connections: number
  readonly firstNumber: number
  readonly seconds: number
}

/** Sends single messages with `sendsms` of Kannel until the time is over. */
export async function runKannelSends(
  load: KannelLoad,
): Promise<{ readonly accepted: number; readonly seconds: number }> {
  const { url, username, password, firstNumber } = load
  let begun = 0
  let accepted = 0
  const connections = await Promise.all(Array.from({ length: load.connections }, () => openHttpConnection(url)))
  const start = performance.now()
  const end = start + load.seconds * 1000
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < end) {
        const query = new URLSearchParams({
          username,
          password,
          to: numberAt(firstNumber + begun++),
          text,
          from: '1234',
        })
        const head = `GET /cgi-bin/sendsms?${query.toString()} HTTP/1.1\r\nHost: kannel\r\nConnection: keep-alive\r\n\r\n`
        const { status } = await connection.ask(Buffer.from(head))
        if (status !== 202) throw new Error(`Kannel answered ${status}`)
        accepted++
      }
    }),
  )
  const seconds = (performance.now() - start) / 1000
  for (const connection of connections) connection.close()
  return { accepted, seconds }
}
