/** The migrated database that every test file clones. */
export const templateDatabase = 'depositd_template'

/** A clone of it that knows the assets and owners of the made-up world. */
export const booksTemplate = 'depositd_template_books'

/** The migrated database of the deposit service. */
export const serviceTemplate = 'depositd_template_service'
