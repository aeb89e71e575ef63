export type { PreparedStatement } from './statement.ts'
