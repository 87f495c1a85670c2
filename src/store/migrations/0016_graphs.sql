-- Vectors that PostgreSQL finds by pgvector (vector_graph.h), by tenant and
-- model. The vectors themselves are in graph_vectors, a table that is only made
-- where the extension is there and wanted, and holds those of every document
-- up to the change number `through`. `number` stands for the model there;
-- `graph_at` is when its graphs were made. Without the extension, and with
-- SQLite, this table stays empty.
--@ system vector_graphs
CREATE TABLE vector_graphs (
    tenant {int} NOT NULL,
    model {text} NOT NULL,
    number {int} NOT NULL,
    dim {int} NOT NULL,
    through {int} NOT NULL,
    graph_at {int},
    PRIMARY KEY (tenant, model)
);
CREATE UNIQUE INDEX vector_graphs_by_number ON vector_graphs (tenant, number);
