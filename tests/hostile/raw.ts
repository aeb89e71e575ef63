import { connect } from 'node:net'

/**
 * Writes one byte for each character of `bytes`. Reads until the server closes the connection, or has sent nothing for
 * `silentMs` after its first answer.
 */
export const raw = (url: string, bytes: string, { silentMs = 300, from = '127.0.0.1' } = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), localAddress: from }, () =>
      socket.write(bytes, 'latin1'),
    )
    let received = ''
    let silence: NodeJS.Timeout | undefined
    socket.setEncoding('latin1')
    socket.on('data', (piece) => {
      received += String(piece)
      clearTimeout(silence)
      silence = setTimeout(() => socket.destroy(), silentMs)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => {
      clearTimeout(silence)
      resolve(received)
    })
  })

export const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4)
