import { command } from '../command.ts'
import type { Run } from '../context.ts'

export const shortcodeList = (run: Run) =>
  command('list', 'list the codes and whose they are').action(() =>
    run(async ({ backOffice, output }) => {
      const codes = await backOffice.listShortCodes()
      await output.rows(
        ['CODE', 'ACCOUNT'],
        codes.map(({ code, account }) => ({ json: { shortCode: code, account }, cells: [code, String(account)] })),
      )
    }),
  )
