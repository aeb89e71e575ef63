import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express, { type Request } from 'express'
import { requestPath } from './request-path.ts'

const requestOf = (url: string): IncomingMessage => Object.assign(new IncomingMessage(new Socket()), { url })

/** What an Express app takes for the path. */
const pathInExpress = (url: string): string => {
  const app = express()
  const request = Object.setPrototypeOf(requestOf(url), app.request) as Request
  return request.path
}

test.each([
  '/',
  '/a/b',
  '/a/b/',
  '//a//b',
  '/a?b=/c?d#e',
  '/a#b?c',
  '/?',
  '/a%2Fb;c=d',
  '/A.asp',
  '*',
  'http://x/a/b?c=d',
  'HTTPS://x:80/a',
  'http://user@x/a#b',
  'http://x',
  'http://x?a=b',
])('the path of %s is what Express takes for it', (url) => {
  expect(requestPath(requestOf(url))).toBe(pathInExpress(url))
})
