/** The migrated database that every test file clones. */
export const templateDatabase = 'depositd_template'
