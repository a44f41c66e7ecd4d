"""The data: tickets and product database, what was read of them, and what the model sees of one ticket."""

import streamlit as st

from lib.ui import columns, frame, picking, preview, uploads

frame.page("data")

with st.container(horizontal=True):
    st.title("Data", anchor=False, width="content")
preview.whose_data()

st.header("Tickets", anchor=False)
uploads.tickets("data")
columns.choices("data")
preview.tickets("data")

st.header("What to run", anchor=False)
picking.choice("data")

st.header("What the model sees of one ticket", anchor=False)
preview.one_ticket("data")

st.header("Product database", anchor=False)
uploads.database("data")
preview.database("data")
